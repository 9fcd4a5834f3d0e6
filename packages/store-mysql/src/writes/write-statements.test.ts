import type { NewTransaction, TransactionUpdate } from '@counterstep/core'
import { expect, it } from 'vitest'
import { aTransaction, makeUpdate } from '../../test/transactions.ts'
import { toPendingCreate, toPendingUpdate } from './pending-writes.ts'
import { writeInserts, writeUpdates } from './write-statements.ts'

const noAnswer = () => undefined

/** Counts the CASEs of each statement that sets rows with these holds, each with a progress of its own. */
function countCases(...holds: readonly TransactionUpdate['hold'][]): readonly number[] {
  const updates = holds.map((hold, i) =>
    toPendingUpdate(makeUpdate(aTransaction(`t-${i}`), { hold, progress: `{"i":${i}}` }), noAnswer, noAnswer),
  )
  return writeUpdates(updates).map(({ sql }) => sql.split('CASE gid').length - 1)
}

it('A statement tells rows apart where they differ, and writes once what is the same for all', () => {
  const finish = { type: 'finish', retentionMs: 60_000 } as const
  expect(countCases(finish)).toEqual([0])
  expect(countCases(finish, finish)).toEqual([2])
  expect(countCases(finish, { ...finish, retentionMs: 'never' })).toEqual([3])
  expect(countCases({ type: 'release', dueAt: 1 }, { type: 'release', dueAt: 2 })).toEqual([3])
  expect(countCases({ type: 'keep' }, { type: 'keep' })).toEqual([2])
})

it('What rows wait for splits no flush of rows that wait for nothing, and one of rows that do into no more than two', () => {
  const keep = { type: 'keep' } as const
  const write = (...changes: readonly Partial<TransactionUpdate>[]) =>
    writeUpdates(
      changes.map((change, i) =>
        toPendingUpdate(makeUpdate(aTransaction(`t-${i}`), { hold: keep, ...change }), noAnswer, noAnswer),
      ),
    ).map(({ sql }) => sql)
  expect(write({}, {}, { marks: [], attempts: 0 })).toHaveLength(1)
  const waiting = write(
    { problem: 'a', attempts: 1 },
    { problem: 'b', attempts: 2 },
    { problem: 'b', attempts: 2 },
  )
  expect(waiting).toHaveLength(1)
  // One statement locks the rows of the two others.
  expect(write({}, { problem: 'a' }, { marks: ['paused'] })).toHaveLength(3)
})

it('Rows without a name and tags are inserted without these columns, unless another row of the flush has one', () => {
  const write = (...changes: readonly Partial<NewTransaction>[]) =>
    writeInserts(
      changes.map((change, i) => toPendingCreate(aTransaction(`t-${i}`, change), noAnswer, noAnswer)),
    )
  const [plain = '', ...others] = write({}, {})
  expect(others).toEqual([])
  expect(plain).not.toMatch(/name|tags/)
  const [mixed = ''] = write({}, { name: 'transfer' }, { tags: { a: "it's (so)" } })
  expect(mixed).toContain('updated_at, name, tags\n)')
  expect(mixed.match(/, NULL, NULL\)/g)).toHaveLength(1)
  expect(mixed).toContain(", 'transfer', NULL)")
  expect(mixed).toContain(", NULL, '\na:it''s (so)\n')")
})
