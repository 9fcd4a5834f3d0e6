import type { OpView, TransactionView } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { findNextCron } from './next-cron.ts'

const CREATED_AT = 1_000_000
const UPDATED_AT = CREATED_AT + 4_000
const FIRST_S = 10

function buildView(ops: readonly Partial<OpView>[], more: Partial<TransactionView> = {}): TransactionView {
  const branches = ops.map((op, at) => {
    const shown: OpView = { op: 'action', state: 'idle', attempts: 0, ...op }
    return { id: `0${at + 1}`, after: [], ops: [shown] }
  })
  const times = { createdAt: CREATED_AT, updatedAt: UPDATED_AT }
  return { gid: 'g', kind: 'saga', status: 'submitted', epoch: 1, ...times, branches, ...more }
}

function waiting(fromMs: number, forMs: number): Partial<OpView> {
  const endedAt = CREATED_AT + fromMs
  return { state: 'waiting', attempts: 1, endedAt, nextAt: endedAt + forMs }
}

const calling: Partial<OpView> = { state: 'calling', attempts: 1 }

describe('the next look at a transaction', () => {
  const looks: readonly (readonly [string, TransactionView, number, number])[] = [
    [
      'The next look is at the end of the wait that was drawn',
      buildView([waiting(1_000, 37_400)]),
      38_400,
      37,
    ],
    ['The first of several waits counts', buildView([waiting(0, 9_000), waiting(1_000, 4_000)]), 5_000, 4],
    ['A short wait is shown as a second', buildView([waiting(0, 200)]), 200, 1],
    [
      'A call that was reset is due since its reset',
      buildView([{ state: 'waiting', attempts: 1, endedAt: 1 }]),
      4_000,
      FIRST_S,
    ],
    ['A call in flight has no wait', buildView([calling]), 4_000, FIRST_S],
    [
      'A call in flight has no wait after a delay either',
      buildView([calling], { startAt: CREATED_AT + 500 }),
      4_000,
      FIRST_S,
    ],
    [
      'A delayed transaction is looked at when its delay is over',
      buildView([{}], { startAt: CREATED_AT + 90_000 }),
      90_000,
      FIRST_S,
    ],
    [
      'A prepared transaction is looked at when its deadline comes',
      buildView([], { status: 'prepared', deadlineAt: CREATED_AT + 35_000 }),
      35_000,
      FIRST_S,
    ],
    [
      'A submitted TCC is not looked at for its deadline',
      buildView([calling], { kind: 'tcc', deadlineAt: CREATED_AT + 35_000 }),
      4_000,
      FIRST_S,
    ],
    [
      'A prepared message is looked at when its query-back is due',
      buildView([], { status: 'prepared', checkAt: CREATED_AT + 35_000 }),
      35_000,
      FIRST_S,
    ],
    [
      'A query-back that is repeated is due after its wait',
      buildView([], {
        status: 'prepared',
        checkAt: CREATED_AT + 35_000,
        check: { op: 'msg', ...waiting(35_000, 20_000) } as OpView,
      }),
      55_000,
      20,
    ],
    [
      'A stopped transaction has the time of its end',
      buildView([waiting(0, 9_000)], { status: 'stopped', finishedAt: CREATED_AT + 7_000 }),
      7_000,
      FIRST_S,
    ],
  ]
  for (const [what, view, afterMs, intervalS] of looks) {
    it(what, () => expect(findNextCron(view, FIRST_S)).toEqual({ at: CREATED_AT + afterMs, intervalS }))
  }
})
