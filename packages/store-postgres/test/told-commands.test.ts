import { describeOn } from '@counterstep/test-servers/vitest'
import { expect, it, vi } from 'vitest'
import { openPostgresStore } from '../src/open-postgres-store.ts'
import { testDatabases } from './test-database.ts'
import { aTransaction, makeUpdate } from './transactions.ts'

function until(isSo: () => boolean): Promise<void> {
  return vi.waitFor(() => expect(isSo()).toBe(true), { timeout: 10_000, interval: 20 })
}

describeOn('postgres', 'commands on other nodes', (serverUrl) => {
  const databases = testDatabases(serverUrl)

  it('A store hears at once of a row that a command on another node has changed, and of no other write', async () => {
    const { url } = await databases.migrated('told')
    const owner = await openPostgresStore({ url })
    const other = await openPostgresStore({ url })
    const heard: string[] = []
    owner.onCommand((gid) => heard.push(gid))
    await until(() => owner.tellsCommands)
    const rows = ['a', 'b', 'c'].map((gid) => aTransaction(gid))
    await Promise.all(rows.map((row) => other.create(row)))
    const [kept, first, second] = rows.map((row) => makeUpdate(row))
    if (kept === undefined || first === undefined || second === undefined) throw new Error('three rows')
    await Promise.all([
      other.update(kept),
      other.update({ ...first, hold: { type: 'command' } }),
      other.update({ ...second, hold: { type: 'command' } }),
    ])
    await until(() => heard.length === 2)
    expect(heard.sort()).toEqual(['b', 'c'])
    await Promise.all([owner.close(), other.close()])
  })

  it('A store whose connection has ended listens again, and says that it hears nothing meanwhile', async () => {
    const { url, name } = await databases.migrated('again')
    const events: string[] = []
    const store = await openPostgresStore({ url, onEvent: (event) => events.push(event.name) })
    const heard: string[] = []
    store.onCommand((gid) => heard.push(gid))
    await until(() => store.tellsCommands)
    await databases.sql(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${name}' AND query = 'LISTEN counterstep'`,
    )
    await until(() => !store.tellsCommands)
    expect(events).toEqual(['store-connection-lost'])
    await until(() => store.tellsCommands)
    const row = aTransaction('a')
    await store.create(row)
    await store.update({ ...makeUpdate(row), hold: { type: 'command' } })
    await until(() => heard.length > 0)
    expect(heard).toEqual(['a'])
    await store.close()
  })
})

describeOn('pgbouncer', 'commands on other nodes through a pooler', (serverUrl) => {
  const databases = testDatabases(serverUrl)

  it('A store behind a pooler does not listen, and says so', async () => {
    const { url } = await databases.migrated('deaf')
    const store = await openPostgresStore({ url, multiplexed: true })
    store.onCommand(() => undefined)
    expect(store.tellsCommands).toBe(false)
    const row = aTransaction('a')
    await store.create(row)
    expect(await store.update({ ...makeUpdate(row), hold: { type: 'command' } })).toMatchObject({
      type: 'saved',
    })
    await store.close()
  })
})
