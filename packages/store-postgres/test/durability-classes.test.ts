import { type PostgresServer, startPostgres, startPostgres18 } from '@counterstep/test-servers'
import { describeOwn } from '@counterstep/test-servers/vitest'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openPostgresStore } from '../src/open-postgres-store.ts'
import { TestDatabases } from './test-database.ts'

const START = { postgres: startPostgres, postgres18: startPostgres18 } as const

for (const kind of ['postgres', 'postgres18'] as const) {
  describeOwn(kind, 'settings that lose what was acknowledged', () => {
    let server: PostgresServer
    let databases: TestDatabases
    let url: string
    beforeAll(async () => {
      server = await START[kind]()
      databases = new TestDatabases(server.url)
      url = (await databases.migrated('durability')).url
    }, 120_000)
    afterAll(() => server.stop())

    const settings = [
      ['off', 'C'],
      ['local', 'A'],
      ['remote_apply', 'A'],
    ] as const
    for (const [value, expected] of settings) {
      it(`The store is class ${expected} with synchronous_commit=${value}`, async () => {
        const { name } = await databases.migrated('durability')
        await databases.sql(`ALTER ROLE ${name} SET synchronous_commit = ${value}`)
        try {
          if (expected === 'C') {
            const refused = openPostgresStore({ url })
            await expect(refused).rejects.toMatchObject({ code: 'SAGA_STORE_NOT_DURABLE' })
            await expect(refused).rejects.toThrow('synchronous_commit')
          }
          const store = await openPostgresStore({ url, acceptClassC: expected === 'C' })
          expect(store.durabilityClass).toBe(expected)
          await store.close()
        } finally {
          await databases.sql(`ALTER ROLE ${name} RESET synchronous_commit`)
        }
      })
    }

    it('A store whose rows a crash of the server takes is class C, and is opened only by an option', async () => {
      const { url, ownerUrl } = await databases.migrated('unlogged')
      for (const table of ['counterstep_tags', 'counterstep_transactions', 'counterstep_documents']) {
        await databases.sql(`ALTER TABLE ${table} SET UNLOGGED`, ownerUrl)
        const refused = openPostgresStore({ url })
        await expect(refused).rejects.toMatchObject({ code: 'SAGA_STORE_NOT_DURABLE' })
        await expect(refused).rejects.toThrow(`ALTER TABLE ${table} SET LOGGED`)
        const store = await openPostgresStore({ url, acceptClassC: true })
        expect(store.durabilityClass).toBe('C')
        await store.close()
        await databases.sql(`ALTER TABLE ${table} SET LOGGED`, ownerUrl)
      }
      const store = await openPostgresStore({ url })
      expect(store.durabilityClass).toBe('A')
      await store.close()
    })
  })

  describeOwn(kind, 'a server that may damage its database', () => {
    for (const setting of ['fsync=off', 'full_page_writes=off', 'data_sync_retry=on']) {
      it(`A server with ${setting} is class C, and is opened only by an option`, {
        timeout: 60_000,
      }, async () => {
        const server = await START[kind]({ settings: [`--${setting}`] })
        try {
          const { url } = await new TestDatabases(server.url).migrated('unsafe')
          const refused = openPostgresStore({ url })
          await expect(refused).rejects.toMatchObject({ code: 'SAGA_STORE_NOT_DURABLE' })
          await expect(refused).rejects.toThrow(setting)
          const store = await openPostgresStore({ url, acceptClassC: true })
          expect(store.durabilityClass).toBe('C')
          await store.close()
        } finally {
          await server.stop()
        }
      })
    }
  })
}
