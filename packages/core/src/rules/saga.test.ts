import type { Result } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import {
  type Answered,
  after,
  answered,
  answerNext,
  buildSaga,
  CREATED_AT,
  effectsText,
  listCalls,
  parallel,
  sent,
  serial,
} from '../../test/sagas.ts'
import { table } from '../../test/table.ts'
import { transition } from '../../test/transition.ts'
import type { SagaOp, SagaTransaction, Transaction } from '../transaction.ts'
import type { TransactionEvent } from './events.ts'
import { ATTENTION_FAILURES, PARKED_OP_AT } from './op-progress.ts'

const DEADLINE_MS = 10_000
const DELAY_MS = 1_000
const NOW = CREATED_AT + 2_000

/** Two branches side by side. The states and events of the table are about them. */
const BASE = parallel(2, { deadlineMs: DEADLINE_MS, delayMs: DELAY_MS })

const submitted = after(
  BASE,
  [sent([0, 'action'], [1, 'action']), answered(1, 'action', 'success')],
  CREATED_AT + DELAY_MS,
)
const aborting = after(
  BASE,
  [
    sent([0, 'action'], [1, 'action']),
    answered(1, 'action', 'success'),
    { type: 'abort-asked' },
    sent([1, 'compensate']),
  ],
  CREATED_AT + DELAY_MS,
)

/** One saga of each status. The action of 01 is in flight where it can be, and backward the compensation of 02. */
const STATES: Readonly<Record<string, Transaction>> = {
  submitted,
  aborting,
  succeeded: after(submitted, [answered(0, 'action', 'success')], NOW),
  failed: after(
    aborting,
    [
      answered(0, 'action', 'success'),
      sent([0, 'compensate']),
      answered(0, 'compensate', 'success'),
      answered(1, 'compensate', 'success'),
    ],
    NOW,
  ),
  stopped: after(submitted, [{ type: 'stop-asked' }], NOW),
}

interface Happening {
  readonly event: TransactionEvent
  readonly now?: number
}

function answers(branch: number, op: SagaOp): Readonly<Record<string, Happening>> {
  const id = `0${branch + 1}`
  const of = (result: Result, attempt = 1): Happening => ({
    event: answered(branch, op, result, { attempt }),
  })
  return {
    [`${id} ${op}: success`]: of('success'),
    [`${id} ${op}: failure`]: of('failure'),
    [`${id} ${op}: ongoing`]: of('ongoing'),
    [`${id} ${op}: unknown`]: of('unknown'),
    [`${id} ${op}: late success`]: of('success', 9),
    [`${id} ${op}: late failure`]: of('failure', 9),
    [`${id} ${op}: late ongoing`]: of('ongoing', 9),
    [`${id} ${op}: late unknown`]: of('unknown', 9),
  }
}

function heldBack(branch: number, op: SagaOp, attempt = 1): TransactionEvent {
  return { type: 'held-back', calls: [{ call: { branch, op }, attempt, waitMs: 300 }] }
}

const EVENTS: Readonly<Record<string, Happening>> = {
  claimed: { event: { type: 'claimed', epoch: 2, sentUnknown: false } },
  'claimed, sent unknown': { event: { type: 'claimed', epoch: 2, sentUnknown: true } },
  'sent 01 action': { event: sent([0, 'action']) },
  'sent 01 compensate': { event: sent([0, 'compensate']) },
  ...answers(0, 'action'),
  ...answers(1, 'compensate'),
  '01 action: held back': { event: heldBack(0, 'action') },
  '02 compensate: held back': { event: heldBack(1, 'compensate') },
  '01 action: late held back': { event: heldBack(0, 'action', 9) },
  'time before the start': { event: { type: 'time' }, now: CREATED_AT + DELAY_MS - 1 },
  'time at the start': { event: { type: 'time' }, now: CREATED_AT + DELAY_MS },
  'time before the deadline': { event: { type: 'time' }, now: CREATED_AT + DEADLINE_MS - 1 },
  'time at the deadline': { event: { type: 'time' }, now: CREATED_AT + DEADLINE_MS },
  'abort asked': { event: { type: 'abort-asked' } },
  'retry asked': { event: { type: 'retry-asked' } },
  'stop asked': { event: { type: 'stop-asked' } },
}

// `ignored`: the same transaction object is returned. `final` stands for succeeded, failed and stopped.
// A call in flight is not an effect again, so the effects are only the calls that are still to be made.
const ROWS = table`
  status     event                        → status after  effects                                 durability
  submitted  claimed                      → submitted  call 01 action, wake +10000             none
  submitted  claimed, sent unknown        → submitted  call 01 action, wake +10000             none
  submitted  sent 01 action               → submitted  wake +10000                             none
  submitted  sent 01 compensate           → illegal    -                                       -
  submitted  01 action: success           → succeeded  -                                       strong
  submitted  01 action: failure           → aborting   call 01 compensate, call 02 compensate  strong
  submitted  01 action: ongoing           → submitted  wake +2200                              strong
  submitted  01 action: unknown           → submitted  wake +2200                              strong
  submitted  01 action: late success      → submitted  wake +10000                             ignored
  submitted  01 action: late failure      → submitted  wake +10000                             ignored
  submitted  01 action: late ongoing      → submitted  wake +10000                             ignored
  submitted  01 action: late unknown      → submitted  wake +10000                             ignored
  submitted  02 compensate: success       → submitted  wake +10000                             ignored
  submitted  02 compensate: failure       → submitted  wake +10000                             ignored
  submitted  02 compensate: ongoing       → submitted  wake +10000                             ignored
  submitted  02 compensate: unknown       → submitted  wake +10000                             ignored
  submitted  02 compensate: late success  → submitted  wake +10000                             ignored
  submitted  02 compensate: late failure  → submitted  wake +10000                             ignored
  submitted  02 compensate: late ongoing  → submitted  wake +10000                             ignored
  submitted  02 compensate: late unknown  → submitted  wake +10000                             ignored
  submitted  01 action: held back         → submitted    wake +2300                              none
  submitted  02 compensate: held back     → submitted    wake +10000                             ignored
  submitted  01 action: late held back    → submitted    wake +10000                             ignored
  submitted  time before the start        → submitted  wake +10000                             ignored
  submitted  time at the start            → submitted  wake +10000                             ignored
  submitted  time before the deadline     → submitted  wake +10000                             ignored
  submitted  time at the deadline         → aborting   call 02 compensate                      strong
  submitted  abort asked                  → aborting   call 02 compensate                      strong
  submitted  retry asked                  → submitted  wake +10000                             strong
  submitted  stop asked                   → stopped    -                                       strong
  aborting   claimed                      → aborting   call 01 compensate, call 02 compensate  none
  aborting   claimed, sent unknown        → aborting   call 01 compensate, call 02 compensate  none
  aborting   sent 01 action               → aborting   -                                       none
  aborting   sent 01 compensate           → aborting   -                                       none
  aborting   01 action: success           → aborting   call 01 compensate                      lazy
  aborting   01 action: failure           → aborting   call 01 compensate                      lazy
  aborting   01 action: ongoing           → aborting   call 01 compensate                      lazy
  aborting   01 action: unknown           → aborting   call 01 compensate                      lazy
  aborting   01 action: late success      → aborting   -                                       ignored
  aborting   01 action: late failure      → aborting   -                                       ignored
  aborting   01 action: late ongoing      → aborting   -                                       ignored
  aborting   01 action: late unknown      → aborting   -                                       ignored
  aborting   02 compensate: success       → aborting   -                                       lazy
  aborting   02 compensate: failure       → aborting   wake +2200                              strong
  aborting   02 compensate: ongoing       → aborting   wake +2200                              strong
  aborting   02 compensate: unknown       → aborting   wake +2200                              strong
  aborting   02 compensate: late success  → aborting   -                                       ignored
  aborting   02 compensate: late failure  → aborting   -                                       ignored
  aborting   02 compensate: late ongoing  → aborting   -                                       ignored
  aborting   02 compensate: late unknown  → aborting   -                                       ignored
  aborting   01 action: held back         → aborting     call 01 compensate                      none
  aborting   02 compensate: held back     → aborting     wake +2300                              none
  aborting   01 action: late held back    → aborting     -                                       ignored
  aborting   time before the start        → aborting   -                                       ignored
  aborting   time at the start            → aborting   -                                       ignored
  aborting   time before the deadline     → aborting   -                                       ignored
  aborting   time at the deadline         → aborting   -                                       ignored
  aborting   abort asked                  → aborting   -                                       ignored
  aborting   retry asked                  → aborting   -                                       strong
  aborting   stop asked                   → stopped    -                                       strong
  final      claimed                      → unchanged  -                                       ignored
  final      claimed, sent unknown        → unchanged  -                                       ignored
  final      sent 01 action               → unchanged  -                                       ignored
  final      sent 01 compensate           → unchanged  -                                       ignored
  final      01 action: success           → unchanged  -                                       ignored
  final      01 action: failure           → unchanged  -                                       ignored
  final      01 action: ongoing           → unchanged  -                                       ignored
  final      01 action: unknown           → unchanged  -                                       ignored
  final      01 action: late success      → unchanged  -                                       ignored
  final      01 action: late failure      → unchanged  -                                       ignored
  final      01 action: late ongoing      → unchanged  -                                       ignored
  final      01 action: late unknown      → unchanged  -                                       ignored
  final      02 compensate: success       → unchanged  -                                       ignored
  final      02 compensate: failure       → unchanged  -                                       ignored
  final      02 compensate: ongoing       → unchanged  -                                       ignored
  final      02 compensate: unknown       → unchanged  -                                       ignored
  final      02 compensate: late success  → unchanged  -                                       ignored
  final      02 compensate: late failure  → unchanged  -                                       ignored
  final      02 compensate: late ongoing  → unchanged  -                                       ignored
  final      02 compensate: late unknown  → unchanged  -                                       ignored
  final      01 action: held back         → unchanged    -                                       ignored
  final      02 compensate: held back     → unchanged    -                                       ignored
  final      01 action: late held back    → unchanged    -                                       ignored
  final      time before the start        → unchanged  -                                       ignored
  final      time at the start            → unchanged  -                                       ignored
  final      time before the deadline     → unchanged  -                                       ignored
  final      time at the deadline         → unchanged  -                                       ignored
  final      abort asked                  → unchanged  -                                       ignored
  final      retry asked                  → unchanged  -                                       ignored
  final      stop asked                   → unchanged  -                                       ignored
`.flatMap(({ title, cells: { status = '', event = '', ...expected } }) =>
  (status === 'final' ? ['succeeded', 'failed', 'stopped'] : [status]).map((from) => ({
    title: title.replace('final', from).replace('unchanged', from),
    from,
    event,
    to: expected['status after'] === 'unchanged' ? from : expected['status after'],
    effects: expected.effects,
    durability: expected.durability,
  })),
)

describe('the transition table', () => {
  it('The table of a saga has one row for every status and every event', () => {
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
        expect(step).toThrow('compensated without an abort decision')
        return
      }
      const { next, effects, durability } = step()
      expect({ status: next.status, effects: effectsText(effects) }).toEqual({
        status: row.to,
        effects: row.effects,
      })
      if (row.durability === 'ignored') expect([next === before, durability]).toEqual([true, 'none'])
      else expect([next === before, durability]).toEqual([false, row.durability])
    })
  }
})

/** Folds forward until nothing is left to call: `01 action, 02 action | …`, one group for each round of calls. */
function rounds(saga: Transaction, result: (branch: number, op: SagaOp) => Result = () => 'success') {
  const groups: string[] = []
  let now = NOW
  let transaction = saga
  for (let round = 0; round < 50; round++) {
    const calls = listCalls(transition(transaction, { type: 'time' }, now).effects)
    if (calls.length === 0) {
      return { order: groups.join(' | '), transaction: after(transaction, [{ type: 'time' }], now) }
    }
    groups.push(calls.map(([branch, op]) => `0${branch + 1} ${op === 'action' ? '→' : '←'}`).join(' '))
    transaction = after(transaction, [sent(...calls)], now)
    for (const [branch, op] of calls) {
      const attempt = transaction.branches[branch]?.[op].attempts ?? 0
      transaction = after(transaction, [answered(branch, op, result(branch, op), { attempt })], now)
    }
    now += 120_000
  }
  throw new Error('it does not end')
}

/** The last branch fails, and all others succeed. */
function failAt(last: number) {
  return (branch: number, op: SagaOp): Result => (op === 'action' && branch === last ? 'failure' : 'success')
}

const DIAMOND = buildSaga([{}, { after: [0] }, { after: [0] }, { after: [1, 2] }])

describe('the order of calls', () => {
  it('A serial saga calls its actions one after the other', () => {
    expect(rounds(serial(3)).order).toBe('01 → | 02 → | 03 →')
  })

  it('A parallel saga calls all actions at once', () => {
    expect(rounds(parallel(3)).order).toBe('01 → 02 → 03 →')
  })

  it('A branch of a graph waits for all its predecessors and for no other branch', () => {
    expect(rounds(DIAMOND).order).toBe('01 → | 02 → 03 → | 04 →')
  })

  it('The order of calls follows the graph, not the positions', () => {
    expect(rounds(buildSaga([{ after: [2] }, { after: [0] }, { after: [] }])).order).toBe(
      '03 → | 01 → | 02 →',
    )
  })

  it('A serial saga compensates in reverse order, the failed branch first', () => {
    const { order, transaction } = rounds(serial(3), failAt(2))
    expect(order).toBe('01 → | 02 → | 03 → | 03 ← | 02 ← | 01 ←')
    expect(transaction.status).toBe('failed')
  })

  it('A graph compensates a successor before its predecessors', () => {
    expect(rounds(DIAMOND, failAt(3)).order).toBe('01 → | 02 → 03 → | 04 → | 04 ← | 02 ← 03 ← | 01 ←')
  })

  it('Branches that were never sent are not compensated', () => {
    expect(rounds(serial(3), failAt(1)).order).toBe('01 → | 02 → | 02 ← | 01 ←')
  })

  it('A branch without a compensation is left out backward', () => {
    const saga = buildSaga([{}, {}, { compensation: false }])
    expect(rounds(saga, failAt(2)).order).toBe('01 → | 02 → | 03 → | 02 ← | 01 ←')
  })

  it('The reverse order holds across a branch without a compensation', () => {
    const saga = buildSaga([{}, { compensation: false }, {}])
    expect(rounds(saga, failAt(2)).order).toBe('01 → | 02 → | 03 → | 03 ← | 01 ←')
  })

  it('The reverse order holds across several branches without a compensation', () => {
    const saga = buildSaga([{}, { compensation: false }, { compensation: false }, {}])
    expect(rounds(saga, failAt(3)).order).toBe('01 → | 02 → | 03 → | 04 → | 04 ← | 01 ←')
  })

  it('The order is found quickly in a dense graph of a hundred branches', () => {
    const plans = Array.from({ length: 100 }, (_, position) => ({
      after: Array.from({ length: position }, (_, before) => before),
      ...(position % 2 === 0 ? { compensation: false as const } : {}),
    }))
    const calls = listCalls(
      transition(
        after(buildSaga(plans), [{ type: 'claimed', epoch: 2, sentUnknown: true }, { type: 'abort-asked' }]),
        { type: 'time' },
        NOW,
      ).effects,
    )
    expect(calls).toEqual([[99, 'compensate']])
  })

  it('An abort that finds nothing to undo ends the saga at once', () => {
    const saga = after(serial(2), [{ type: 'abort-asked' }])
    expect(saga).toMatchObject({ status: 'aborting', abort: { branches: [] } })
    const { next, durability } = transition(saga, { type: 'time' }, NOW)
    expect([next.status, durability]).toEqual(['failed', 'strong'])
  })

  it('A saga ends when its only branch failed and has no compensation', () => {
    const { order, transaction } = rounds(buildSaga([{ compensation: false }]), failAt(0))
    expect([order, transaction.status]).toEqual(['01 →', 'failed'])
  })
})

function readAbort(transaction: Transaction) {
  if (!('abort' in transaction) || transaction.abort === undefined) throw new Error('it was not aborted')
  return transaction.abort
}

describe('the abort decision', () => {
  it('The abort decision lists the branches whose action was sent, answered or not, and no others', () => {
    const saga = after(parallel(3), [
      sent([0, 'action'], [1, 'action']),
      answered(0, 'action', 'success'),
      { type: 'abort-asked' },
    ])
    expect(readAbort(saga)).toEqual({ cause: 'requested', at: CREATED_AT, branches: [0, 1] })
  })

  it('The abort decision lists a branch whose action waits for a retry', () => {
    const saga = after(serial(2), [
      sent([0, 'action']),
      answered(0, 'action', 'unknown'),
      { type: 'abort-asked' },
    ])
    expect(readAbort(saga).branches).toEqual([0])
    expect(saga.branches[0]?.action).toMatchObject({ state: 'idle', attempts: 1 })
    expect(saga.branches[0]?.action).not.toHaveProperty('nextAt')
  })

  it('The abort decision lists every branch when the list of sent actions is not known', () => {
    const saga = after(serial(3), [
      { type: 'claimed', epoch: 2, sentUnknown: true },
      sent([0, 'action']),
      answered(0, 'action', 'failure'),
    ])
    expect(readAbort(saga)).toEqual({
      cause: 'branch-failed',
      branch: 0,
      at: CREATED_AT,
      branches: [0, 1, 2],
    })
    expect(rounds(saga).order).toBe('03 ← | 02 ← | 01 ←')
  })

  it('The abort decision trusts the list after a claim with a complete list', () => {
    const saga = after(serial(3), [
      sent([0, 'action']),
      answered(0, 'action', 'success'),
      { type: 'claimed', epoch: 2, sentUnknown: false },
      { type: 'abort-asked' },
    ])
    expect(readAbort(saga).branches).toEqual([0])
  })

  it('The abort decision lists the call of an earlier owner', () => {
    const saga = after(serial(2), [
      sent([0, 'action']),
      { type: 'claimed', epoch: 2, sentUnknown: false },
      { type: 'abort-asked' },
    ])
    expect(readAbort(saga).branches).toEqual([0])
    expect(rounds(saga).order).toBe('01 ←')
  })

  it('The abort decision is made once: a second request changes nothing', () => {
    const saga = after(serial(2), [sent([0, 'action']), { type: 'abort-asked' }])
    const { next, durability } = transition(saga, { type: 'abort-asked' }, NOW)
    expect([next === saga, durability]).toEqual([true, 'none'])
  })

  it('A failure after the abort decision does not make it again', () => {
    const saga = after(parallel(2), [
      sent([0, 'action'], [1, 'action']),
      answered(0, 'action', 'failure'),
      answered(1, 'action', 'failure'),
    ])
    expect(readAbort(saga)).toMatchObject({ cause: 'branch-failed', branch: 0 })
    expect(saga.branches[1]?.action.state).toBe('failed')
  })
})

describe('an action in flight at the abort', () => {
  const inFlight = after(serial(2), [sent([0, 'action']), { type: 'abort-asked' }])

  it('An action in flight at the abort is waited for before its compensation is sent', () => {
    expect(transition(inFlight, { type: 'time' }, NOW).effects).toEqual([])
  })

  for (const result of ['success', 'failure', 'ongoing', 'unknown'] as const) {
    it(`is followed by its compensation when it answers ${result}, and not asked again`, () => {
      const { next, effects } = transition(inFlight, answered(0, 'action', result), NOW)
      expect(next.status).toBe('aborting')
      expect(effectsText(effects)).toBe('call 01 compensate')
    })
  }

  it('An action in flight at the abort delays the compensations of its predecessors, too', () => {
    const saga = after(serial(2), [
      sent([0, 'action']),
      answered(0, 'action', 'success'),
      sent([1, 'action']),
      { type: 'abort-asked' },
    ])
    expect(transition(saga, { type: 'time' }, NOW).effects).toEqual([])
    expect(effectsText(transition(saga, answered(1, 'action', 'unknown'), NOW).effects)).toBe(
      'call 02 compensate',
    )
  })

  it('An action in flight at the abort does not delay a parallel branch', () => {
    const saga = after(parallel(2), [sent([0, 'action'], [1, 'action']), answered(0, 'action', 'failure')])
    expect(effectsText(transition(saga, { type: 'time' }, NOW).effects)).toBe('call 01 compensate')
  })

  it('An action in flight at the abort delays the end, even without a compensation', () => {
    const saga = after(buildSaga([{ compensation: false }]), [sent([0, 'action']), { type: 'abort-asked' }])
    expect(transition(saga, { type: 'time' }, NOW).next.status).toBe('aborting')
    // The abort decision may not be durable yet, so no answer ends the saga.
    const answer = transition(saga, answered(0, 'action', 'success'), NOW)
    expect(answer).toMatchObject({ next: { status: 'aborting' }, durability: 'lazy' })
    expect(transition(answer.next, { type: 'time' }, NOW)).toMatchObject({
      next: { status: 'failed' },
      durability: 'strong',
    })
  })
})

/** Calls the branch's next op again and again. Each answer comes when the wait is over. */
function repeat(saga: SagaTransaction, results: readonly Result[]): SagaTransaction {
  let transaction = saga
  let now = NOW
  for (const result of results) {
    transaction = answerNext(transaction, result, now)
    now += 120_000
  }
  return transaction
}

describe('asking again', () => {
  it('An unknown answer is no failure: without a limit the saga goes on forward', () => {
    const saga = repeat(
      serial(1),
      Array.from({ length: 50 }, () => 'unknown'),
    )
    expect(saga.status).toBe('submitted')
    expect(saga.branches[0]?.action).toMatchObject({ attempts: 50, failures: 50, waits: 50 })
    expect(answerNext(saga, 'success', NOW + 50 * 120_000).status).toBe('succeeded')
  })

  it('The saga aborts when the retry limit is reached, and not before', () => {
    const saga = buildSaga([{ retry: { limit: 3 } }, {}])
    expect(repeat(saga, ['unknown', 'unknown']).status).toBe('submitted')
    expect(readAbort(repeat(saga, ['unknown', 'unknown', 'unknown']))).toMatchObject({
      cause: 'retry-limit',
      branch: 0,
      branches: [0],
    })
  })

  it('An ongoing answer does not count against the limit, but makes the wait longer', () => {
    const saga = repeat(buildSaga([{ retry: { limit: 2 } }]), ['ongoing', 'ongoing', 'unknown', 'ongoing'])
    expect(saga.status).toBe('submitted')
    expect(saga.branches[0]?.action).toMatchObject({ attempts: 4, failures: 1, waits: 4 })
    expect(
      repeat(buildSaga([{ retry: { limit: 2 } }]), ['ongoing', 'unknown', 'ongoing', 'unknown']).status,
    ).toBe('aborting')
  })

  it('A call that this node may not make does not count against the limit, and is a failure where there is none', () => {
    const deny = (saga: SagaTransaction, from: number, count: number) =>
      after(
        saga,
        Array.from({ length: count }, (_, n) => from + n).flatMap((attempt) => [
          sent([0, 'action']),
          answered(0, 'action', 'unknown', { attempt, error: 'denied-target' }),
        ]),
      )
    const limited = repeat(buildSaga([{ retry: { limit: 2 } }, {}]), ['unknown'])
    const denied = deny(limited, 2, 5)
    expect(denied.status).toBe('submitted')
    expect(denied.branches[0]?.action).toMatchObject({ attempts: 6, failures: 1, error: 'denied-target' })
    expect(answerNext(denied, 'unknown', NOW + 3_600_000).status).toBe('aborting')
    expect(deny(serial(1), 1, 5).branches[0]?.action.failures).toBe(5)
  })

  it('A call that this node may not make is asked less and less often in spite of its limit, and parked in the end', () => {
    const bounds = { floorMs: 1_000, parkAfterMs: 3_600_000 }
    const deny = (saga: SagaTransaction, attempt: number, now: number) =>
      after(
        saga,
        [
          sent([0, 'action']),
          { ...answered(0, 'action', 'unknown', { attempt, error: 'denied-target' }), bounds },
        ],
        now,
      )
    let saga = buildSaga([{ retry: { initialMs: 10, factor: 1, capMs: 10, limit: 2 } }])
    for (let attempt = 1; attempt <= 60; attempt++) saga = deny(saga, attempt, NOW)
    expect(saga.branches[0]?.action).toMatchObject({ failures: 0, nextAt: NOW + 60_000 })
    const parked = deny(saga, 61, NOW + 3_600_000)
    expect(parked).toMatchObject({
      status: 'submitted',
      attention: expect.stringMatching(/parked.*may not call/),
    })
    expect(parked.branches[0]?.action.nextAt).toBe(PARKED_OP_AT)
  })

  it('A claim keeps the counters, so that the limit survives a crash', () => {
    const saga = after(repeat(buildSaga([{ retry: { limit: 2 } }]), ['unknown']), [
      { type: 'claimed', epoch: 2, sentUnknown: true },
    ])
    expect(answerNext(saga, 'unknown', NOW + 120_000).status).toBe('aborting')
  })

  it('A branch without a policy uses that of the transaction', () => {
    const saga = serial(1, { retry: { initialMs: 10, factor: 1, capMs: 10, jitter: 0, limit: 1 } })
    expect(repeat(saga, ['unknown']).status).toBe('aborting')
  })

  it('A retry waits as long as the branch asks for, up to the cap', () => {
    const after30 = { ...answered(0, 'action', 'unknown', { retryAfterMs: 30_000 }) } satisfies Answered
    const saga = after(serial(1), [sent([0, 'action']), after30])
    expect(saga.branches[0]?.action.nextAt).toBe(CREATED_AT + 30_000)
  })

  it('A retry comes at the due instant, and not before', () => {
    const saga = after(serial(1), [sent([0, 'action']), answered(0, 'action', 'unknown')])
    expect(effectsText(transition(saga, { type: 'time' }, CREATED_AT + 199).effects)).toBe('wake +200')
    expect(effectsText(transition(saga, { type: 'time' }, CREATED_AT + 200).effects)).toBe('call 01 action')
  })

  it('A retry comes at once when an operator asks for it', () => {
    const saga = after(serial(1), [sent([0, 'action']), answered(0, 'action', 'unknown')])
    const { next, effects, durability } = transition(saga, { type: 'retry-asked' }, CREATED_AT + 1)
    expect([effectsText(effects), durability, next.manualRetries]).toEqual(['call 01 action', 'strong', 1])
  })

  it('The saga wakes for the earliest of several branches and for the deadline', () => {
    const saga = after(
      buildSaga([{ after: [] }, { after: [], retry: { initialMs: 50 } }], { deadlineMs: 9_000 }),
      [
        sent([0, 'action'], [1, 'action']),
        answered(0, 'action', 'unknown'),
        answered(1, 'action', 'ongoing'),
      ],
    )
    expect(effectsText(transition(saga, { type: 'time' }, CREATED_AT).effects)).toBe('wake +50')
    expect(effectsText(transition(saga, { type: 'time' }, CREATED_AT + 100).effects)).toBe(
      'call 02 action, wake +200',
    )
  })
})

describe('a compensation that cannot be done', () => {
  const backward = after(serial(1), [
    sent([0, 'action']),
    { type: 'abort-asked' },
    answered(0, 'action', 'success'),
  ])

  it('A failed compensation counts as unknown, is called again, and a person is told at once', () => {
    const saga = repeat(backward, ['failure'])
    expect(saga).toMatchObject({
      status: 'aborting',
      attention: 'compensation of branch 01 answered failure',
      branches: [{ compensate: { state: 'waiting', failures: 1, result: 'failure' } }],
    })
  })

  it('A compensation gets attention after ten failed attempts, and not before', () => {
    const unknowns = (length: number): Result[] => Array.from({ length }, () => 'unknown')
    expect(repeat(backward, unknowns(ATTENTION_FAILURES - 1)).attention).toBeUndefined()
    expect(ATTENTION_FAILURES).toBe(10)
    expect(repeat(backward, unknowns(ATTENTION_FAILURES)).attention).toBe(
      'compensation of branch 01 failed 10 times',
    )
  })

  it('An ongoing compensation gets no attention', () => {
    const ongoing = Array.from({ length: 20 }, (): Result => 'ongoing')
    expect(repeat(backward, ongoing).attention).toBeUndefined()
  })

  it('A compensation goes on at the cap for ever, whatever the retry limit', () => {
    const limited = after(buildSaga([{ retry: { limit: 2 } }]), [
      sent([0, 'action']),
      { type: 'abort-asked' },
      answered(0, 'action', 'success'),
    ])
    const saga = repeat(
      limited,
      Array.from({ length: 40 }, () => 'unknown'),
    )
    const { nextAt = 0, endedAt = 0 } = saga.branches[0]?.compensate ?? {}
    expect([saga.status, nextAt - endedAt]).toEqual(['aborting', 60_000])
  })

  it("The attention goes away with an operator's retry and at the end", () => {
    const saga = repeat(backward, ['failure'])
    expect(after(saga, [{ type: 'retry-asked' }], NOW).attention).toBeUndefined()
    const done = answerNext(saga, 'success', NOW + 120_000)
    expect([done.status, done.attention]).toEqual(['failed', undefined])
    expect(after(saga, [{ type: 'stop-asked' }], NOW).attention).toBeUndefined()
  })

  it('The attention stays while another branch is undone', () => {
    const saga = after(
      parallel(2),
      [
        sent([0, 'action'], [1, 'action']),
        { type: 'abort-asked' },
        answered(0, 'action', 'success'),
        answered(1, 'action', 'success'),
        sent([0, 'compensate'], [1, 'compensate']),
        answered(0, 'compensate', 'failure'),
        answered(1, 'compensate', 'success'),
      ],
      NOW,
    )
    expect(saga.attention).toBe('compensation of branch 01 answered failure')
  })
})

describe('the deadline', () => {
  const saga = after(serial(2, { deadlineMs: 5_000 }), [sent([0, 'action'])])
  const T = CREATED_AT + 5_000

  it('The deadline aborts the saga at exactly T, and not one millisecond before', () => {
    expect(transition(saga, { type: 'time' }, T - 1).next.status).toBe('submitted')
    expect(transition(saga, { type: 'time' }, T).next).toMatchObject({
      status: 'aborting',
      abort: { cause: 'deadline', at: T },
    })
  })

  it('A claim after the deadline aborts the saga', () => {
    const claimed = transition(saga, { type: 'claimed', epoch: 2, sentUnknown: true }, T)
    expect(claimed).toMatchObject({
      next: { status: 'aborting', epoch: 2, abort: { cause: 'deadline', branches: [0, 1] } },
      durability: 'strong',
    })
    expect(effectsText(claimed.effects)).toBe('call 02 compensate')
  })

  it('A success at the deadline aborts the saga unless it is the last one', () => {
    const { next, effects } = transition(saga, answered(0, 'action', 'success'), T)
    expect(next).toMatchObject({ status: 'aborting', abort: { cause: 'deadline', branches: [0] } })
    expect(effectsText(effects)).toBe('call 01 compensate')
  })

  it('The last success wins against the deadline', () => {
    const last = after(saga, [answered(0, 'action', 'success'), sent([1, 'action'])])
    expect(transition(last, answered(1, 'action', 'success'), T + 1_000)).toMatchObject({
      next: { status: 'succeeded', finishedAt: T + 1_000 },
      durability: 'strong',
    })
  })

  it('A failure at the deadline is the cause of the abort', () => {
    expect(readAbort(transition(saga, answered(0, 'action', 'failure'), T).next).cause).toBe('branch-failed')
  })

  it('An unknown answer at T aborts the saga', () => {
    expect(readAbort(transition(saga, answered(0, 'action', 'unknown'), T).next).cause).toBe('deadline')
  })

  it('The deadline aborts a saga that has not started yet', () => {
    const delayed = serial(1, { deadlineMs: 5_000, delayMs: 9_000 })
    expect(effectsText(transition(delayed, { type: 'time' }, CREATED_AT).effects)).toBe('wake +5000')
    expect(transition(delayed, { type: 'time' }, T).next).toMatchObject({
      status: 'aborting',
      abort: { branches: [] },
    })
  })

  describe('where the last actions may end late', () => {
    const settings = { deadlineMs: 5_000, lastActionsMayEndLate: true } as const
    const last = after(serial(2, settings), [
      sent([0, 'action']),
      answered(0, 'action', 'success'),
      sent([1, 'action']),
    ])

    it('A saga whose last actions may end late waits for them without waking for the passed deadline', () => {
      expect(effectsText(transition(last, { type: 'time' }, T - 1).effects)).toBe('wake +5000')
      const { next, effects } = transition(last, { type: 'time' }, T)
      expect(next).toBe(last)
      expect(effects).toEqual([])
    })

    it('A saga whose last actions may end late succeeds with their success', () => {
      const late = after(last, [{ type: 'time' }], T)
      expect(transition(late, answered(1, 'action', 'success'), T + 900).next.status).toBe('succeeded')
    })

    it('A saga whose last actions may end late aborts at any other answer', () => {
      const cause = (result: Result) =>
        readAbort(transition(last, answered(1, 'action', result), T + 900).next).cause
      expect(cause('failure')).toBe('branch-failed')
      expect([cause('unknown'), cause('ongoing')]).toEqual(['deadline', 'deadline'])
    })

    it('A saga aborts at T when an action waits for a retry or another action is to come', () => {
      const both = after(parallel(2, settings), [sent([0, 'action'], [1, 'action'])])
      const waiting = after(both, [answered(1, 'action', 'unknown')])
      for (const saga of [waiting, after(serial(2, settings), [sent([0, 'action'])])])
        expect(transition(saga, { type: 'time' }, T).next.status).toBe('aborting')
      expect(transition(both, { type: 'time' }, T).next).toBe(both)
    })

    it('A claim after the deadline aborts the saga, because the answer will not arrive here', () => {
      const claimed = transition(last, { type: 'claimed', epoch: 2, sentUnknown: true }, T)
      expect(claimed.next).toMatchObject({ status: 'aborting', abort: { cause: 'deadline' } })
    })
  })

  it('The late end of actions does not matter to a saga that aborts', () => {
    const back = after(saga, [{ type: 'abort-asked' }])
    expect(transition(back, { type: 'time' }, T).next).toBe(back)
    expect(transition(back, { type: 'time' }, CREATED_AT).effects).toEqual([])
  })
})

describe('a delayed start', () => {
  const RETRY = { type: 'retry-asked' } as const
  const saga = parallel(2, { delayMs: 3_000 })

  it('A delayed saga makes no call before its start, and all ready calls at it', () => {
    expect(effectsText(transition(saga, { type: 'time' }, CREATED_AT + 2_999).effects)).toBe('wake +3000')
    expect(effectsText(transition(saga, { type: 'time' }, CREATED_AT + 3_000).effects)).toBe(
      'call 01 action, call 02 action',
    )
  })

  // The clock was ahead when the saga was accepted, and has been set back by an hour since.
  const SET_BACK = CREATED_AT - 3_600_000
  const answersUnknown = [sent([0, 'action']), answered(0, 'action', 'unknown')]

  it.each([
    ['without a delay, before its first call', serial(1), [], 'call 01 action'],
    ['without a delay, when it is retried', serial(1), [...answersUnknown, RETRY], 'call 01 action'],
    ['without a delay, while it waits', serial(1), answersUnknown, 'wake +200'],
    [
      'delayed and begun, when it is retried',
      serial(1, { delayMs: 5 }),
      [...answersUnknown, RETRY],
      'call 01 action',
    ],
    ['delayed, before its start', serial(1, { delayMs: 5 }), [], 'wake +5'],
    ['delayed, when it is retried before its start', serial(1, { delayMs: 5 }), [RETRY], 'wake +5'],
  ])('A clock that is set back leaves a saga that is %s: %#', (_, from, events, expected) => {
    const { effects } = transition(after(from, events), { type: 'time' }, SET_BACK)
    expect(effectsText(effects)).toBe(expected)
  })

  it('A delayed start does not delay an abort', () => {
    const aborted = after(saga, [{ type: 'claimed', epoch: 2, sentUnknown: true }, { type: 'abort-asked' }])
    expect(effectsText(transition(aborted, { type: 'time' }, CREATED_AT).effects)).toBe(
      'call 01 compensate, call 02 compensate',
    )
  })
})

describe('durability', () => {
  const ofSuccess = (checkpointMs: number) =>
    transition(
      after(serial(2, { checkpointMs }), [sent([0, 'action'])]),
      answered(0, 'action', 'success'),
      NOW,
    ).durability
  const ofUndo = (checkpointMs: number) =>
    transition(
      after(
        serial(2, { checkpointMs }),
        [
          sent([0, 'action']),
          answered(0, 'action', 'success'),
          sent([1, 'action']),
          answered(1, 'action', 'failure'),
          sent([1, 'compensate']),
        ],
        NOW,
      ),
      answered(1, 'compensate', 'success'),
      NOW,
    ).durability
  const ofAbandoned = (checkpointMs: number) =>
    transition(
      after(parallel(2, { checkpointMs }), [sent([0, 'action'], [1, 'action']), { type: 'abort-asked' }]),
      answered(1, 'action', 'unknown'),
      NOW,
    ).durability

  it('Progress is lazy, forward and backward', () => {
    expect([ofSuccess(1), ofUndo(1), ofAbandoned(1)]).toEqual(['lazy', 'lazy', 'lazy'])
  })

  it('Every branch result is strong in strict mode, forward and backward', () => {
    expect([ofSuccess(0), ofUndo(0), ofAbandoned(0)]).toEqual(['strong', 'strong', 'strong'])
  })
})

describe('what is remembered of a call', () => {
  it('A call records its last answer, its end and the number of attempts', () => {
    const saga = after(
      serial(1),
      [sent([0, 'action']), answered(0, 'action', 'unknown', { statusCode: 503, excerpt: 'busy' })],
      NOW,
    )
    expect(saga.branches[0]?.action).toMatchObject({
      attempts: 1,
      startedAt: NOW,
      endedAt: NOW,
      durationMs: 7,
      result: 'unknown',
      statusCode: 503,
      answer: 'busy',
      error: 'timeout',
    })
  })

  it('A call records nothing of an earlier answer', () => {
    const saga = after(
      serial(1),
      [
        sent([0, 'action']),
        answered(0, 'action', 'unknown', { statusCode: 503, excerpt: 'busy' }),
        sent([0, 'action']),
        answered(0, 'action', 'success', { attempt: 2 }),
      ],
      NOW,
    )
    const { action } = saga.branches[0] ?? {}
    expect(action).toMatchObject({ state: 'succeeded', attempts: 2, statusCode: 200 })
    expect(action).not.toHaveProperty('answer')
    expect(action).not.toHaveProperty('error')
    expect(action).not.toHaveProperty('nextAt')
  })

  it('A call keeps the instant of its first attempt', () => {
    const first = after(serial(1), [sent([0, 'action']), answered(0, 'action', 'unknown')], CREATED_AT + 5)
    expect(after(first, [sent([0, 'action'])], NOW).branches[0]?.action.startedAt).toBe(CREATED_AT + 5)
  })
})
