import type { Result } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import {
  ABORT,
  answering,
  buildMessage,
  buildPlainMessage,
  CHECK_AFTER_MS,
  CHECK_AT,
  callsIn,
  callText,
  effectsAsText,
  folded,
  RETRY_NOW,
  register,
  STOP,
  SUBMIT,
  sending,
  TIME,
} from '../../test/prepared.ts'
import { CREATED_AT } from '../../test/sagas.ts'
import { table } from '../../test/table.ts'
import { transition } from '../../test/transition.ts'
import type { CalledOp, MessageTransaction } from '../transaction.ts'
import type { TransactionEvent } from './events.ts'
import { ATTENTION_FAILURES } from './op-progress.ts'

const NOW = CREATED_AT + CHECK_AFTER_MS + 2_000
const CHECK_DUE_AT = CREATED_AT + CHECK_AFTER_MS
const DELAY_MS = 1_000

const CHECK_SENT = sending([CHECK_AT, 'msg'])
const prepared = buildMessage(2)
const checking = folded(prepared, [CHECK_SENT], CHECK_DUE_AT)
const submitted = folded(prepared, [SUBMIT, sending([0, 'action'])])

/** `checking` is prepared with its query-back in flight; the first of two branches is in flight in `submitted`. */
const STATES: Readonly<Record<string, MessageTransaction>> = {
  prepared,
  checking,
  submitted,
  succeeded: folded(submitted, [
    answering(0, 'action', 'success'),
    sending([1, 'action']),
    answering(1, 'action', 'success'),
  ]),
  failed: folded(prepared, [ABORT]),
  stopped: folded(submitted, [STOP]),
}

interface Happening {
  readonly event: TransactionEvent
  readonly now?: number
}

function answers(branch: number, op: CalledOp): Readonly<Record<string, Happening>> {
  const results: readonly Result[] = ['success', 'failure', 'ongoing', 'unknown']
  const of = (word: string, attempt: number) =>
    results.map((result): [string, Happening] => [
      `${callText({ branch, op })}: ${word}${result}`,
      { event: answering(branch, op, result, { attempt }) },
    ])
  return Object.fromEntries([...of('', 1), ...of('late ', 9)])
}

const EVENTS: Readonly<Record<string, Happening>> = {
  claimed: { event: { type: 'claimed', epoch: 2, sentUnknown: true } },
  'sent msg': { event: CHECK_SENT },
  'sent 01 action': { event: sending([0, 'action']) },
  ...answers(CHECK_AT, 'msg'),
  ...answers(0, 'action'),
  'time before the check': { event: TIME, now: CHECK_DUE_AT - 1 },
  'time at the check': { event: TIME, now: CHECK_DUE_AT },
  'register 03': { event: register(2) },
  'submit asked': { event: SUBMIT },
  'abort asked': { event: ABORT },
  'retry asked': { event: RETRY_NOW },
  'stop asked': { event: STOP },
}

// `ignored`: the same transaction object is returned. `final` stands for
// succeeded, failed and stopped; `*` for each result.
const ROWS = table`
  status     event                  → status after  effects         durability
  prepared   claimed                → prepared      call msg        none
  prepared   sent msg               → prepared      -               none
  prepared   sent 01 action         → illegal       -               -
  prepared   msg: *                 → prepared      call msg        ignored
  prepared   msg: late *            → prepared      call msg        ignored
  prepared   01 action: *           → prepared      call msg        ignored
  prepared   01 action: late *      → prepared      call msg        ignored
  prepared   time before the check  → prepared      wake +10000     ignored
  prepared   time at the check      → prepared      call msg        ignored
  prepared   register 03            → prepared      call msg        ignored
  prepared   submit asked           → submitted     call 01 action  strong
  prepared   abort asked            → failed        -               strong
  prepared   retry asked            → prepared      call msg        strong
  prepared   stop asked             → stopped       -               strong
  checking   claimed                → prepared      call msg        none
  checking   sent msg               → prepared      -               none
  checking   sent 01 action         → illegal       -               -
  checking   msg: success           → submitted     call 01 action  strong
  checking   msg: failure           → failed        -               strong
  checking   msg: ongoing           → prepared      wake +12200     strong
  checking   msg: unknown           → prepared      wake +12200     strong
  checking   msg: late *            → prepared      -               ignored
  checking   01 action: *           → prepared      -               ignored
  checking   01 action: late *      → prepared      -               ignored
  checking   time before the check  → prepared      -               ignored
  checking   time at the check      → prepared      -               ignored
  checking   register 03            → prepared      -               ignored
  checking   submit asked           → submitted     call 01 action  strong
  checking   abort asked            → failed        -               strong
  checking   retry asked            → prepared      -               strong
  checking   stop asked             → stopped       -               strong
  submitted  claimed                → submitted     call 01 action  none
  submitted  sent 01 action         → submitted     -               none
  submitted  msg: *                 → submitted     -               ignored
  submitted  msg: late *            → submitted     -               ignored
  submitted  01 action: success     → submitted     call 02 action  lazy
  submitted  01 action: failure     → submitted     wake +12200     strong
  submitted  01 action: ongoing     → submitted     wake +12200     strong
  submitted  01 action: unknown     → submitted     wake +12200     strong
  submitted  01 action: late *      → submitted     -               ignored
  submitted  time before the check  → submitted     -               ignored
  submitted  time at the check      → submitted     -               ignored
  submitted  register 03            → submitted     -               ignored
  submitted  submit asked           → submitted     -               ignored
  submitted  abort asked            → submitted     -               ignored
  submitted  retry asked            → submitted     -               strong
  submitted  stop asked             → stopped       -               strong
  submitted  sent msg               → illegal       -               -
  final      claimed                → unchanged     -               ignored
  final      sent msg               → unchanged     -               ignored
  final      sent 01 action         → unchanged     -               ignored
  final      msg: *                 → unchanged     -               ignored
  final      msg: late *            → unchanged     -               ignored
  final      01 action: *           → unchanged     -               ignored
  final      01 action: late *      → unchanged     -               ignored
  final      time before the check  → unchanged     -               ignored
  final      time at the check      → unchanged     -               ignored
  final      register 03            → unchanged     -               ignored
  final      submit asked           → unchanged     -               ignored
  final      abort asked            → unchanged     -               ignored
  final      retry asked            → unchanged     -               ignored
  final      stop asked             → unchanged     -               ignored
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

describe('the transition table of a message', () => {
  it('The table of a message has one row for every state and every event', () => {
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
      const step = () => transition(before, happening.event, happening.now ?? NOW)
      if (row.to === 'illegal') {
        expect(step).toThrow(/delivered before it was submitted|asked after it was submitted/)
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

describe('the query-back', () => {
  it('A query-back that says yes submits the message, and its answer is kept', () => {
    expect(folded(checking, [answering(CHECK_AT, 'msg', 'success')], NOW)).toMatchObject({
      status: 'submitted',
      check: { state: 'succeeded', attempts: 1, result: 'success' },
      updatedAt: NOW,
    })
  })

  it('A query-back that says no drops the message and calls no branch', () => {
    expect(folded(checking, [answering(CHECK_AT, 'msg', 'failure')], NOW)).toMatchObject({
      status: 'failed',
      abort: { cause: 'check-failed', at: NOW, branches: [] },
      check: { state: 'failed', result: 'failure' },
      finishedAt: NOW,
    })
  })

  it.each(['unknown', 'ongoing'] as const)(
    'that says %s is asked again at the back-off, for ever',
    (result) => {
      let message = prepared
      let now = CHECK_DUE_AT
      for (let attempt = 1; attempt <= 30; attempt++) {
        expect(effectsAsText(transition(message, TIME, now).effects)).toBe('call msg')
        message = folded(message, [CHECK_SENT, answering(CHECK_AT, 'msg', result, { attempt })], now)
        expect(message).toMatchObject({ status: 'prepared', check: { attempts: attempt, waits: attempt } })
        const { nextAt = 0 } = message.check
        expect(nextAt).toBeGreaterThan(now)
        expect(effectsAsText(transition(message, TIME, nextAt - 1).effects)).toBe(
          `wake +${nextAt - CREATED_AT}`,
        )
        now = nextAt
      }
      expect(message.attention).toBe(result === 'unknown' ? 'the query-back failed 30 times' : undefined)
    },
  )

  it(`is told to a person after ${ATTENTION_FAILURES} unknown answers; the submit takes that back`, () => {
    let message = prepared
    for (let attempt = 1; attempt <= ATTENTION_FAILURES; attempt++) {
      expect(message.attention).toBeUndefined()
      message = folded(message, [CHECK_SENT, answering(CHECK_AT, 'msg', 'unknown', { attempt })], NOW)
    }
    expect(message.attention).toBe('the query-back failed 10 times')
    expect(folded(message, [SUBMIT]).attention).toBeUndefined()
    expect(folded(message, [ABORT]).attention).toBeUndefined()
  })

  it('A query-back in flight at the submit is forgotten, and its answer does not count', () => {
    const both = folded(checking, [SUBMIT], NOW)
    for (const result of ['success', 'failure', 'ongoing', 'unknown'] as const)
      expect(folded(both, [answering(CHECK_AT, 'msg', result)], NOW)).toBe(both)
  })

  it('A query-back of a dead owner is sent again, and its own answer is ignored', () => {
    const taken = folded(checking, [{ type: 'claimed', epoch: 2, sentUnknown: true }], NOW)
    expect(taken.check).toMatchObject({ state: 'idle', attempts: 1 })
    expect(folded(taken, [answering(CHECK_AT, 'msg', 'failure')], NOW)).toBe(taken)
    expect(effectsAsText(transition(taken, TIME, NOW).effects)).toBe('call msg')
    const again = folded(taken, [CHECK_SENT, answering(CHECK_AT, 'msg', 'failure')], NOW)
    expect(again.status).toBe('prepared')
  })

  it('A waiting query-back is due at once after a retry', () => {
    const waiting = folded(checking, [answering(CHECK_AT, 'msg', 'unknown')], NOW)
    expect(effectsAsText(transition(waiting, TIME, NOW).effects)).toBe('wake +12200')
    expect(effectsAsText(transition(waiting, RETRY_NOW, NOW).effects)).toBe('call msg')
  })

  it('A retry does not hasten a query-back that is not due yet, because the sender still works', () => {
    expect(effectsAsText(transition(prepared, RETRY_NOW, CREATED_AT).effects)).toBe('wake +10000')
  })
})

/** Calls and answers until nothing is left to call. */
function rounds(given: MessageTransaction, now = NOW) {
  const groups: string[] = []
  let message = given
  for (let round = 0; round < 300; round++) {
    const calls = callsIn(transition(message, TIME, now).effects)
    if (calls.length === 0) return { order: groups.join(' | '), message }
    groups.push(calls.map(callText).join(', '))
    message = folded(message, [{ type: 'sent', calls }], now)
    for (const { branch, op } of calls) message = folded(message, [answering(branch, op, 'success')], now)
  }
  throw new Error('it does not end')
}

describe('the delivery', () => {
  it('The branches of a message are called one after the other in their order', () => {
    const { order, message } = rounds(folded(buildMessage(3), [SUBMIT]))
    expect([order, message.status]).toEqual(['01 action | 02 action | 03 action', 'succeeded'])
  })

  it('All branches of a concurrent message are called at once', () => {
    const { order, message } = rounds(folded(buildMessage(3, { concurrent: true }), [SUBMIT]))
    expect([order, message.status]).toEqual(['01 action, 02 action, 03 action', 'succeeded'])
  })

  it('A message without a query-back is delivered at once', () => {
    expect(rounds(buildPlainMessage(2), CREATED_AT).order).toBe('01 action | 02 action')
  })

  it('The delivery waits for its start, which counts from the accept and does not submit the message', () => {
    for (const message of [
      buildPlainMessage(1, { delayMs: DELAY_MS }),
      folded(buildMessage(1, { delayMs: DELAY_MS }), [SUBMIT], CREATED_AT + 5),
    ]) {
      const at = (now: number) => effectsAsText(transition(message, TIME, now).effects)
      expect(at(CREATED_AT + DELAY_MS - 1)).toBe('wake +1000')
      expect(at(CREATED_AT + DELAY_MS)).toBe('call 01 action')
    }
    const undecided = buildMessage(1, { delayMs: DELAY_MS })
    expect(effectsAsText(transition(undecided, TIME, CREATED_AT + DELAY_MS).effects)).toBe('wake +10000')
  })

  it.each([
    ['without a delay', buildPlainMessage(1)],
    ['delayed', buildPlainMessage(1, { delayMs: DELAY_MS })],
  ])('A clock that is set back does not keep a message from its retry: %s', (_, message) => {
    const retried = folded(message, [sending([0, 'action']), answering(0, 'action', 'unknown'), RETRY_NOW])
    expect(effectsAsText(transition(retried, TIME, CREATED_AT - DELAY_MS).effects)).toBe('call 01 action')
  })

  it('A concurrent message retries a failed branch beside the calls in flight', () => {
    const message = folded(buildMessage(3, { concurrent: true }), [
      SUBMIT,
      sending([0, 'action'], [1, 'action'], [2, 'action']),
      answering(0, 'action', 'unknown'),
      answering(1, 'action', 'success'),
    ])
    expect(effectsAsText(transition(message, TIME, CREATED_AT).effects)).toBe('wake +200')
    expect(effectsAsText(transition(message, TIME, CREATED_AT + 200).effects)).toBe('call 01 action')
  })

  it('A delivery is never given up: a failure is told to a person and called again', () => {
    const message = folded(buildMessage(1), [
      SUBMIT,
      sending([0, 'action']),
      answering(0, 'action', 'failure'),
    ])
    expect(message).toMatchObject({ status: 'submitted', attention: 'action of branch 01 answered failure' })
    expect(effectsAsText(transition(message, TIME, CREATED_AT + 200).effects)).toBe('call 01 action')
  })

  it('A message without branches has succeeded as soon as it is submitted', () => {
    expect(transition(buildMessage(0), SUBMIT, NOW).next.status).toBe('succeeded')
    const { next, durability } = transition(buildPlainMessage(0), TIME, NOW)
    expect([next.status, durability]).toEqual(['succeeded', 'strong'])
  })

  it('A submitted message cannot be aborted any more', () => {
    expect(folded(submitted, [ABORT])).toBe(submitted)
  })

  it('In strict mode each result of a message is durable before the next call', () => {
    const message = folded(buildMessage(2, { checkpointMs: 0 }), [SUBMIT, sending([0, 'action'])])
    expect(transition(message, answering(0, 'action', 'success'), NOW).durability).toBe('strong')
  })
})

describe('an abort', () => {
  it('An abort before the submit ends the message, with its reason', () => {
    expect(folded(prepared, [{ ...ABORT, reason: 'rolled back' }], NOW)).toMatchObject({
      status: 'failed',
      abort: { cause: 'requested', reason: 'rolled back', at: NOW, branches: [] },
      finishedAt: NOW,
    })
  })
})
