import type { TransactionUpdate } from '@counterstep/core'
import { expect, it } from 'vitest'
import { aTransaction, updateOf } from '../../test/transactions.ts'
import { toPendingUpdate } from './pending-writes.ts'
import { writeUpdates } from './write-statements.ts'

const noAnswer = () => undefined

/** How often rows with these holds, and each with a progress of its own, are told apart in the statements that set them. */
function casesOf(...holds: readonly TransactionUpdate['hold'][]): readonly number[] {
  const updates = holds.map((hold, i) =>
    toPendingUpdate(updateOf(aTransaction(`t-${i}`), { hold, progress: `{"i":${i}}` }), noAnswer, noAnswer),
  )
  return writeUpdates(updates).map(({ sql }) => sql.split('CASE gid').length - 1)
}

it('tells rows apart where they differ, and writes once what is the same for all', () => {
  const finish = { type: 'finish', retentionMs: 60_000 } as const
  expect(casesOf(finish)).toEqual([0])
  expect(casesOf(finish, finish)).toEqual([2])
  expect(casesOf(finish, { ...finish, retentionMs: 'never' })).toEqual([3])
  expect(casesOf({ type: 'release', dueAt: 1 }, { type: 'release', dueAt: 2 })).toEqual([3])
  expect(casesOf({ type: 'keep' }, { type: 'keep' })).toEqual([2])
})
