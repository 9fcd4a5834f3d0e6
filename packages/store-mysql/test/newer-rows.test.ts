import { describeOn } from '@counterstep/test-servers/vitest'
import { expect, it } from 'vitest'
import { openMysqlStore } from '../src/open-mysql-store.ts'
import { testDatabases } from './test-database.ts'
import { asGid, aTransaction, drawToken } from './transactions.ts'

const due = { hold: { type: 'waiting', dueInMs: 0 } } as const

for (const server of ['mariadb', 'mysql'] as const) {
  describeOn(server, 'rows of a later version', (serverUrl) => {
    const databases = testDatabases(serverUrl)

    for (const column of ['kind', 'status', 'sent_list']) {
      it(`A row of a later version does not spoil the others: an unknown ${column}`, async () => {
        const { url, name } = await databases.migrated(`newer-${column}`)
        const store = await openMysqlStore({ url })
        for (const gid of ['known', 'newer']) await store.create(aTransaction(gid, due))
        await databases.sql(`UPDATE ${name}.counterstep_transactions SET ${column} = 99 WHERE gid = 'newer'`)
        const gids = ['known', 'newer'].map(asGid)
        expect((await store.readMany(gids)).map(({ gid }) => gid)).toEqual(['known'])
        await expect(store.readMany(gids.slice(1))).rejects.toMatchObject({ code: 'SAGA_INTERNAL' })
        const claim = { leaseMs: 10_000, formatMax: 1 }
        const tokens = [drawToken(), drawToken()]
        const { claimed } = await store.claimDue({ ...claim, limit: 2, tokens })
        expect(claimed.map(({ gid }) => gid)).toEqual(['known'])
        for (const gid of ['also-known', 'newer-too']) await store.create(aTransaction(gid, due))
        await databases.sql(
          `UPDATE ${name}.counterstep_transactions SET ${column} = 99 WHERE gid = 'newer-too'`,
        )
        const postponement = { limit: 4, byMs: 10_000, formatMax: 1 }
        expect((await store.postponeDue(postponement)).gids).toEqual(['also-known'])
        const refused = { type: 'refused', reason: 'format' }
        expect(await store.claim({ ...claim, gid: asGid('newer'), token: drawToken() })).toEqual(refused)
        expect((await store.stats()).oldestDueAt).toBeGreaterThan(0)
        const { items } = await store.list({ limit: 1, ...(column === 'kind' && { retrying: false }) })
        expect(items.length).toBeLessThanOrEqual(1)
        expect((await store.list({ limit: 10 })).items.map(({ gid }) => gid)).toContain('known')
        await store.close()
      })
    }
  })
}
