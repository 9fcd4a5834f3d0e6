import { expect, it } from 'vitest'
import { startDeadline } from '../../src/barrier/deadline.ts'
import { lease } from '../../src/barrier/lease.ts'
import { inTransaction } from '../../src/barrier/postgres/postgres-transaction.ts'

/** These files are loaded a second time, as in a process that imports the SDK and requires it, or has two versions of it. */
const FILES = {
  lease: new URL('../../src/barrier/lease.ts?again', import.meta.url).href,
  errors: new URL('../../src/branch/branch-errors.ts?again', import.meta.url).href,
}

it('A connection that one copy lends is known to the other', async () => {
  const other: typeof import('../../src/barrier/lease.ts') = await import(FILES.lease)
  expect(other.lease).not.toBe(lease)
  const connection = { query: () => undefined }
  const { handle } = lease(connection)
  expect(handle).not.toBe(connection)
  expect(other.unwrapLease(handle)).toBe(connection)
  expect(other.unwrapLease(connection)).toBe(connection)
})

it('A connection is closed on which the other copy left a statement under way', async () => {
  const other: typeof import('../../src/branch/branch-errors.ts') = await import(FILES.errors)
  const ends: string[] = []
  const client = {
    query: async ({ text }: { readonly text: string }) => {
      ends.push(text.split(' ')[0] ?? '')
      return { command: 'SELECT', rowCount: 0, rows: [] }
    },
    on: () => undefined,
    removeListener: () => undefined,
    release: (isClosed?: boolean) => ends.push(isClosed ? 'closed' : 'given back'),
  }
  const run = inTransaction({ connect: async () => client }, startDeadline(5_000), () => {
    throw new other.BranchError('BARRIER_TIMED_OUT', 'of mysqlBarrierIn, say')
  })
  await expect(run).rejects.toMatchObject({ code: 'BARRIER_TIMED_OUT' })
  expect(ends).toEqual(['SELECT', 'BEGIN;', 'closed'])
})
