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

describe('when a transaction is looked at next', () => {
  const looks: readonly (readonly [string, TransactionView, number, number])[] = [
    ['a wait is the one that was drawn', buildView([waiting(1_000, 37_400)]), 38_400, 37],
    ['of several waits the first counts', buildView([waiting(0, 9_000), waiting(1_000, 4_000)]), 5_000, 4],
    ['a short wait is a second', buildView([waiting(0, 200)]), 200, 1],
    [
      'what was reset is due since then',
      buildView([{ state: 'waiting', attempts: 1, endedAt: 1 }]),
      4_000,
      FIRST_S,
    ],
    ['what is called now has no wait', buildView([calling]), 4_000, FIRST_S],
    ['a call that comes after a delay', buildView([calling], { startAt: CREATED_AT + 500 }), 4_000, FIRST_S],
    ['a delay', buildView([{}], { startAt: CREATED_AT + 90_000 }), 90_000, FIRST_S],
    [
      'what is prepared is decided by its deadline',
      buildView([], { status: 'prepared', deadlineAt: CREATED_AT + 35_000 }),
      35_000,
      FIRST_S,
    ],
    [
      'what is submitted is not',
      buildView([calling], { kind: 'tcc', deadlineAt: CREATED_AT + 35_000 }),
      4_000,
      FIRST_S,
    ],
    ['a query-back', buildView([], { status: 'prepared', checkAt: CREATED_AT + 35_000 }), 35_000, FIRST_S],
    [
      'a query-back that is asked again',
      buildView([], {
        status: 'prepared',
        checkAt: CREATED_AT + 35_000,
        check: { op: 'msg', ...waiting(35_000, 20_000) } as OpView,
      }),
      55_000,
      20,
    ],
    [
      'the end',
      buildView([waiting(0, 9_000)], { status: 'stopped', finishedAt: CREATED_AT + 7_000 }),
      7_000,
      FIRST_S,
    ],
  ]
  for (const [what, view, afterMs, intervalS] of looks) {
    it(what, () => expect(findNextCron(view, FIRST_S)).toEqual({ at: CREATED_AT + afterMs, intervalS }))
  }
})
