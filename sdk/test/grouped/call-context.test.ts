import { AsyncLocalStorage } from 'node:async_hooks'
import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { migrateBarrier } from '../../src/barrier/sqlite.ts'
import { groupedBranch } from '../../src/grouped/grouped.ts'
import { sqliteGroupBarrier } from '../../src/grouped/sqlite.ts'

const tenant = new AsyncLocalStorage<string>()

/** Starts the calls of the tenants at once, and tells in which context their handlers and `apply` ran. */
async function serveTenants(tenants: readonly string[]) {
  const database = new DatabaseSync(':memory:')
  migrateBarrier(database)
  const applied: (string | undefined)[] = []
  const branch = groupedBranch(sqliteGroupBarrier(database), {
    key: () => 'transfer',
    apply: (_, calls) => {
      applied.push(tenant.getStore())
      return calls.map(() => 'done')
    },
  })
  const handled = await Promise.all(
    tenants.map((name, place) =>
      tenant.run(name, async () => {
        let seen: string | undefined
        await branch.run({ gid: `context-${place}`, branchId: '01', op: 'action' }, () => {
          seen = tenant.getStore()
          return 0
        })
        return { seen, afterwards: tenant.getStore() }
      }),
    ),
  )
  return { handled, applied }
}

it('Each handler of a group runs in the async context of its own call', async () => {
  const tenants = ['a', 'b', 'c', 'a', 'b']
  const { handled } = await serveTenants(tenants)
  expect(handled).toEqual(tenants.map((name) => ({ seen: name, afterwards: name })))
})

it('The handler of a call that is alone in its group runs in its context', async () => {
  expect((await serveTenants(['a'])).handled).toEqual([{ seen: 'a', afterwards: 'a' }])
})

it('The group itself runs in the context of none of its calls', async () => {
  expect((await serveTenants(['a', 'b'])).applied).toEqual([undefined])
})
