import type { Result } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import {
  ABORT,
  answering,
  buildTcc,
  callsIn,
  callText,
  effectsAsText,
  folded,
  RETRY_NOW,
  register,
  STOP,
  SUBMIT,
  sending,
  TCC_DEADLINE_MS,
  TIME,
  tccBranchAt,
} from '../../test/prepared.ts'
import { CREATED_AT, RETRY } from '../../test/sagas.ts'
import { table } from '../../test/table.ts'
import { transition } from '../../test/transition.ts'
import type { TccOp, TccTransaction } from '../transaction.ts'
import type { TransactionEvent } from './events.ts'
import { ATTENTION_FAILURES } from './op-progress.ts'

const NOW = CREATED_AT + 2_000
const DEADLINE_AT = CREATED_AT + TCC_DEADLINE_MS

const prepared = buildTcc(2)
/** The newer of two branches is in flight. */
const submitted = folded(prepared, [SUBMIT, sending([1, 'confirm'])])
const aborting = folded(prepared, [ABORT, sending([1, 'cancel'])])

const STATES: Readonly<Record<string, TccTransaction>> = {
  prepared,
  submitted,
  aborting,
  succeeded: folded(submitted, [
    answering(1, 'confirm', 'success'),
    sending([0, 'confirm']),
    answering(0, 'confirm', 'success'),
  ]),
  failed: folded(aborting, [
    answering(1, 'cancel', 'success'),
    sending([0, 'cancel']),
    answering(0, 'cancel', 'success'),
  ]),
  stopped: folded(submitted, [STOP]),
}

interface Happening {
  readonly event: TransactionEvent
  readonly now?: number
}

function answers(branch: number, op: TccOp): Readonly<Record<string, Happening>> {
  const results: readonly Result[] = ['success', 'failure', 'ongoing', 'unknown']
  const of = (word: string, attempt: number) =>
    results.map((result): [string, Happening] => [
      `${callText({ branch, op })}: ${word}${result}`,
      { event: answering(branch, op, result, { attempt }) },
    ])
  return Object.fromEntries([...of('', 1), ...of('late ', 9)])
}

const EVENTS: Readonly<Record<string, Happening>> = {
  claimed: { event: { type: 'claimed', epoch: 2, sentUnknown: false } },
  'claimed at the deadline': {
    event: { type: 'claimed', epoch: 2, sentUnknown: true },
    now: DEADLINE_AT,
  },
  'sent 02 confirm': { event: sending([1, 'confirm']) },
  'sent 02 cancel': { event: sending([1, 'cancel']) },
  ...answers(1, 'confirm'),
  ...answers(1, 'cancel'),
  'time before the deadline': { event: TIME, now: DEADLINE_AT - 1 },
  'time at the deadline': { event: TIME, now: DEADLINE_AT },
  'register 03': { event: register(2) },
  'register 02 again': { event: register(1) },
  'submit asked': { event: SUBMIT },
  'submit asked after the deadline': { event: SUBMIT, now: DEADLINE_AT + 1 },
  'abort asked': { event: ABORT },
  'retry asked': { event: RETRY_NOW },
  'stop asked': { event: STOP },
}

// `ignored`: the same transaction object is returned. `final` stands for succeeded, failed and stopped; `late` for late
// answers of each result. A call in flight is not an effect again, so the effects are only the calls still to be made.
const ROWS = table`
  status     event                            → status after  effects          durability
  prepared   claimed                          → prepared      wake +10000      none
  prepared   claimed at the deadline          → aborting      call 02 cancel   strong
  prepared   sent 02 confirm                  → illegal       -                -
  prepared   sent 02 cancel                   → illegal       -                -
  prepared   02 confirm: *                    → prepared      wake +10000      ignored
  prepared   02 cancel: *                     → prepared      wake +10000      ignored
  prepared   02 confirm: late *               → prepared      wake +10000      ignored
  prepared   02 cancel: late *                → prepared      wake +10000      ignored
  prepared   time before the deadline         → prepared      wake +10000      ignored
  prepared   time at the deadline             → aborting      call 02 cancel   strong
  prepared   register 03                      → prepared      wake +10000      strong
  prepared   register 02 again                → prepared      wake +10000      ignored
  prepared   submit asked                     → submitted     call 02 confirm  strong
  prepared   submit asked after the deadline  → submitted     call 02 confirm  strong
  prepared   abort asked                      → aborting      call 02 cancel   strong
  prepared   retry asked                      → prepared      wake +10000      strong
  prepared   stop asked                       → stopped       -                strong
  submitted  claimed                          → submitted     call 02 confirm  none
  submitted  claimed at the deadline          → submitted     call 02 confirm  none
  submitted  sent 02 confirm                  → submitted     -                none
  submitted  sent 02 cancel                   → illegal       -                -
  submitted  02 confirm: success              → submitted     call 01 confirm  lazy
  submitted  02 confirm: failure              → submitted     wake +2200       strong
  submitted  02 confirm: ongoing              → submitted     wake +2200       strong
  submitted  02 confirm: unknown              → submitted     wake +2200       strong
  submitted  02 cancel: *                     → submitted     -                ignored
  submitted  02 confirm: late *               → submitted     -                ignored
  submitted  02 cancel: late *                → submitted     -                ignored
  submitted  time before the deadline         → submitted     -                ignored
  submitted  time at the deadline             → submitted     -                ignored
  submitted  register 03                      → submitted     -                ignored
  submitted  register 02 again                → submitted     -                ignored
  submitted  submit asked                     → submitted     -                ignored
  submitted  submit asked after the deadline  → submitted     -                ignored
  submitted  abort asked                      → submitted     -                ignored
  submitted  retry asked                      → submitted     -                strong
  submitted  stop asked                       → stopped       -                strong
  aborting   claimed                          → aborting      call 02 cancel   none
  aborting   claimed at the deadline          → aborting      call 02 cancel   none
  aborting   sent 02 confirm                  → illegal       -                -
  aborting   sent 02 cancel                   → aborting      -                none
  aborting   02 confirm: *                    → aborting      -                ignored
  aborting   02 cancel: success               → aborting      call 01 cancel   lazy
  aborting   02 cancel: failure               → aborting      wake +2200       strong
  aborting   02 cancel: ongoing               → aborting      wake +2200       strong
  aborting   02 cancel: unknown               → aborting      wake +2200       strong
  aborting   02 confirm: late *               → aborting      -                ignored
  aborting   02 cancel: late *                → aborting      -                ignored
  aborting   time before the deadline         → aborting      -                ignored
  aborting   time at the deadline             → aborting      -                ignored
  aborting   register 03                      → aborting      -                ignored
  aborting   register 02 again                → aborting      -                ignored
  aborting   submit asked                     → aborting      -                ignored
  aborting   submit asked after the deadline  → aborting      -                ignored
  aborting   abort asked                      → aborting      -                ignored
  aborting   retry asked                      → aborting      -                strong
  aborting   stop asked                       → stopped       -                strong
  final      claimed                          → unchanged     -                ignored
  final      claimed at the deadline          → unchanged     -                ignored
  final      sent 02 confirm                  → unchanged     -                ignored
  final      sent 02 cancel                   → unchanged     -                ignored
  final      02 confirm: *                    → unchanged     -                ignored
  final      02 cancel: *                     → unchanged     -                ignored
  final      02 confirm: late *               → unchanged     -                ignored
  final      02 cancel: late *                → unchanged     -                ignored
  final      time before the deadline         → unchanged     -                ignored
  final      time at the deadline             → unchanged     -                ignored
  final      register 03                      → unchanged     -                ignored
  final      register 02 again                → unchanged     -                ignored
  final      submit asked                     → unchanged     -                ignored
  final      submit asked after the deadline  → unchanged     -                ignored
  final      abort asked                      → unchanged     -                ignored
  final      retry asked                      → unchanged     -                ignored
  final      stop asked                       → unchanged     -                ignored
`.flatMap(({ cells: { status = '', event = '', effects = '', durability = '', ...expected } }) =>
  (status === 'final' ? ['succeeded', 'failed', 'stopped'] : [status]).flatMap((from) =>
    (event.includes('*') ? ['success', 'failure', 'ongoing', 'unknown'] : ['']).map((result) => {
      const named = event.replace('*', result)
      const to = expected['status after'] === 'unchanged' ? from : expected['status after']
      const title = `${from} · ${named} → ${to} · ${effects} · ${durability}`
      return { title, from, event: named, to, effects, durability }
    }),
  ),
)

describe('the transition table of a TCC', () => {
  it('The table of a TCC has one row for every status and every event', () => {
    const pairs = Object.keys(STATES).flatMap((status) =>
      Object.keys(EVENTS).map((event) => `${status} × ${event}`),
    )
    expect(ROWS.map(({ from, event }) => `${from} × ${event}`).sort()).toEqual(pairs.sort())
  })

  for (const row of ROWS) {
    it(row.title, () => {
      const before = STATES[row.from]
      const happening = EVENTS[row.event]
      if (before === undefined || happening === undefined) throw new Error('no such state or event')
      expect(before.status).toBe(row.from)
      const step = () => transition(before, happening.event, happening.now ?? NOW)
      if (row.to === 'illegal') {
        expect(step).toThrow(/decided before the client was|both confirmed and cancelled/)
        return
      }
      const { next, effects, durability } = step()
      expect({ status: next.status, effects: effectsAsText(effects) }).toEqual({
        status: row.to,
        effects: row.effects,
      })
      if (row.durability === 'ignored') expect([next === before, durability]).toEqual([true, 'none'])
      else expect([next === before, durability]).toEqual([false, row.durability])
    })
  }
})

/** Calls and answers until nothing is left to call: `03 confirm | 02 confirm`, one group for each round. */
function rounds(tcc: TccTransaction) {
  const groups: string[] = []
  let transaction = tcc
  for (let round = 0; round < 300; round++) {
    const calls = callsIn(transition(transaction, TIME, NOW).effects)
    if (calls.length === 0) return { order: groups.join(' | '), transaction }
    groups.push(calls.map(callText).join(', '))
    transaction = folded(transaction, [{ type: 'sent', calls }], NOW)
    for (const { branch, op } of calls)
      transaction = folded(transaction, [answering(branch, op, 'success')], NOW)
  }
  throw new Error('it does not end')
}

describe('what is called', () => {
  it('The branches are confirmed one after the other, the newest first', () => {
    const { order, transaction } = rounds(folded(buildTcc(3), [SUBMIT]))
    expect([order, transaction.status]).toEqual(['03 confirm | 02 confirm | 01 confirm', 'succeeded'])
  })

  it('The branches are cancelled one after the other, the newest first', () => {
    const { order, transaction } = rounds(folded(buildTcc(3), [ABORT]))
    expect([order, transaction.status]).toEqual(['03 cancel | 02 cancel | 01 cancel', 'failed'])
  })

  it('No branch is called before the decision', () => {
    expect(rounds(buildTcc(3)).order).toBe('')
  })

  it('The branch that was registered last is called, too', () => {
    expect(rounds(folded(buildTcc(1), [register(1), SUBMIT])).order).toBe('02 confirm | 01 confirm')
  })

  it('A branch that waits for a retry keeps older branches waiting', () => {
    const tcc = folded(buildTcc(2), [SUBMIT, sending([1, 'confirm']), answering(1, 'confirm', 'unknown')])
    expect(effectsAsText(transition(tcc, TIME, CREATED_AT + 199).effects)).toBe('wake +200')
    expect(effectsAsText(transition(tcc, TIME, CREATED_AT + 200).effects)).toBe('call 02 confirm')
  })
})

describe('an end', () => {
  it('A TCC without branches succeeds with its submit', () => {
    const { next, durability } = transition(buildTcc(0), SUBMIT, NOW)
    expect([next.status, durability]).toEqual(['succeeded', 'strong'])
  })

  it('A TCC without branches fails after its abort is durable', () => {
    const decided = transition(buildTcc(0), ABORT, NOW)
    expect([decided.next.status, decided.durability]).toEqual(['aborting', 'strong'])
    const { next, durability } = transition(decided.next, TIME, NOW)
    expect([next.status, durability]).toEqual(['failed', 'strong'])
  })

  it('The end of a TCC is a strong change with its instant', () => {
    const tcc = folded(buildTcc(1), [SUBMIT, sending([0, 'confirm'])])
    const { next, durability } = transition(tcc, answering(0, 'confirm', 'success'), NOW)
    expect(next).toMatchObject({ status: 'succeeded', finishedAt: NOW, updatedAt: NOW })
    expect(durability).toBe('strong')
  })

  it('In strict mode each result of a TCC is durable before the next call', () => {
    const tcc = folded(buildTcc(2, { checkpointMs: 0 }), [ABORT, sending([1, 'cancel'])])
    expect(transition(tcc, answering(1, 'cancel', 'success'), NOW).durability).toBe('strong')
  })
})

describe('the decision to abort', () => {
  it.each([
    ['asked without a reason', ABORT, NOW, { cause: 'requested', at: NOW, branches: [0, 1] }],
    [
      'asked with a reason',
      { ...ABORT, reason: 'no money' },
      NOW,
      { cause: 'requested', at: NOW, reason: 'no money', branches: [0, 1] },
    ],
    ['at the deadline', TIME, DEADLINE_AT, { cause: 'deadline', at: DEADLINE_AT, branches: [0, 1] }],
  ] as const)('names every registered branch: %s', (_, event, now, abort) => {
    expect(transition(prepared, event, now).next).toEqual({
      ...prepared,
      status: 'aborting',
      abort,
      updatedAt: now,
    })
  })

  it('The deadline aborts no submitted TCC', () => {
    expect(folded(submitted, [TIME], DEADLINE_AT + 1_000_000)).toBe(submitted)
  })
})

describe('a failure of a confirm or a cancel', () => {
  it.each(['confirm', 'cancel'] as const)('is asked again for ever, and a person is told: %s', (op) => {
    const before = folded(buildTcc(1), [op === 'confirm' ? SUBMIT : ABORT, sending([0, op])])
    const { next } = transition(before, answering(0, op, 'failure'), NOW)
    expect(next).toMatchObject({
      status: before.status,
      attention: `${op} of branch 01 answered failure`,
      branches: [{ [op]: { state: 'waiting', failures: 1, nextAt: NOW + 200 } }],
    })
  })

  it(`of ${ATTENTION_FAILURES} times is told, and no retry limit ends it`, () => {
    let tcc = folded(buildTcc(1, { retry: { ...RETRY, limit: 2 } }), [SUBMIT])
    for (let attempt = 1; attempt <= ATTENTION_FAILURES; attempt++) {
      expect(tcc.attention).toBeUndefined()
      tcc = folded(tcc, [sending([0, 'confirm']), answering(0, 'confirm', 'unknown', { attempt })])
    }
    expect(tcc).toMatchObject({ status: 'submitted', attention: 'confirm of branch 01 failed 10 times' })
    const done = folded(tcc, [
      sending([0, 'confirm']),
      answering(0, 'confirm', 'success', { attempt: ATTENTION_FAILURES + 1 }),
    ])
    expect([done.status, done.attention]).toEqual(['succeeded', undefined])
  })

  it('An ongoing confirm or cancel gets no attention', () => {
    let tcc = folded(buildTcc(1), [SUBMIT])
    for (let attempt = 1; attempt <= 2 * ATTENTION_FAILURES; attempt++)
      tcc = folded(tcc, [sending([0, 'confirm']), answering(0, 'confirm', 'ongoing', { attempt })])
    expect(tcc.attention).toBeUndefined()
  })

  it('A retry waits by the branch’s own policy before that of the transaction', () => {
    const own = buildTcc(1, {}, { retry: { ...RETRY, initialMs: 5 } })
    const tcc = folded(own, [SUBMIT, sending([0, 'confirm']), answering(0, 'confirm', 'unknown')])
    expect(tcc.branches[0]?.confirm.nextAt).toBe(CREATED_AT + 5)
  })
})

describe('a retry of a TCC', () => {
  it('A retry makes a waiting call due and takes the attention away', () => {
    const waiting = folded(buildTcc(1), [SUBMIT, sending([0, 'confirm']), answering(0, 'confirm', 'failure')])
    const { next, effects } = transition(waiting, RETRY_NOW, CREATED_AT)
    expect(next).toMatchObject({ manualRetries: 1 })
    expect(next.attention).toBeUndefined()
    expect(effectsAsText(effects)).toBe('call 01 confirm')
  })
})

describe('a claim', () => {
  it('A claim repeats the call that the last owner had in flight, and ignores its answer', () => {
    const tcc = folded(submitted, [{ type: 'claimed', epoch: 2, sentUnknown: true }])
    expect(tcc).toMatchObject({ epoch: 2, sentUnknown: true })
    expect(effectsAsText(transition(tcc, TIME, NOW).effects)).toBe('call 02 confirm')
    expect(folded(tcc, [answering(1, 'confirm', 'success')])).toBe(tcc)
    const again = folded(tcc, [sending([1, 'confirm']), answering(1, 'confirm', 'success')])
    expect(again.branches[1]?.confirm).toMatchObject({ state: 'calling', attempts: 2 })
  })
})

describe('what is registered', () => {
  it('Registered branches are kept as they were given, in their order', () => {
    const tcc = folded(buildTcc(0), [register(1), register(0), register(2)])
    expect(tcc.registered).toEqual([1, 0, 2].map((position) => tccBranchAt(position)))
  })

  it('A registered branch is never changed by its id coming again', () => {
    const tcc = folded(buildTcc(1), [register(0, { body: 'other' })])
    expect(tcc).toEqual(buildTcc(1))
  })
})
