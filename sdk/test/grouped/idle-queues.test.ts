import { DatabaseSync } from 'node:sqlite'
import { queryObjects } from 'node:v8'
import { expect, it } from 'vitest'
import { migrateBarrier } from '../../src/barrier/sqlite.ts'
import { GroupQueue } from '../../src/grouped/group-queue.ts'
import { groupedBranch } from '../../src/grouped/grouped.ts'
import { sqliteGroupBarrier } from '../../src/grouped/sqlite.ts'

/** Counts the queues that live after a garbage collection. */
const queuesAlive = (): number => queryObjects(GroupQueue, { format: 'count' })

it('No queue is kept for a key that is idle', async () => {
  const database = new DatabaseSync(':memory:')
  migrateBarrier(database)
  const before = queuesAlive()
  const branch = groupedBranch(sqliteGroupBarrier(database), {
    key: ({ gid }) => gid,
    apply: (_, calls) => calls.map(() => 'done'),
  })
  const run = (gid: string) => branch.run({ gid, branchId: '01', op: 'action' }, () => 0)
  const running = Array.from({ length: 500 }, (_, number) => run(`idle-${number}`))
  expect(queuesAlive() - before).toBe(500)
  await Promise.all(running)
  // One may be alive still, on the stack; the branch itself is in use.
  expect(queuesAlive() - before).toBeLessThan(5)
  expect((await run('last')).decision).toBe('run')
})
