import { describeOn } from '@counterstep/test-servers/vitest'
import { expect, it } from 'vitest'
import { openPostgresStore } from '../src/open-postgres-store.ts'
import { testDatabases } from './test-database.ts'
import { asGid, aTransaction, drawToken } from './transactions.ts'

const due = { hold: { type: 'waiting', dueInMs: 0 } } as const

for (const server of ['postgres', 'postgres18'] as const) {
  describeOn(server, 'rows of a later version', (serverUrl) => {
    const databases = testDatabases(serverUrl)

    for (const column of ['kind', 'status', 'sent_list']) {
      it(`A row of a later version does not spoil the others: an unknown ${column}`, async () => {
        const { url, ownerUrl } = await databases.migrated(`newer-${column}`)
        const store = await openPostgresStore({ url })
        for (const gid of ['known', 'newer']) await store.create(aTransaction(gid, due))
        await databases.sql(
          `UPDATE counterstep_transactions SET ${column} = 99 WHERE gid = 'newer'`,
          ownerUrl,
        )
        const gids = ['known', 'newer'].map(asGid)
        expect((await store.readMany(gids)).map(({ gid }) => gid)).toEqual(['known'])
        await expect(store.readMany(gids.slice(1))).rejects.toMatchObject({ code: 'SAGA_INTERNAL' })
        const claim = { leaseMs: 10_000, formatMax: 1 }
        const tokens = [drawToken(), drawToken()]
        const { claimed } = await store.claimDue({ ...claim, limit: 2, tokens })
        expect(claimed.map(({ gid }) => gid)).toEqual(['known'])
        for (const gid of ['also-known', 'newer-too']) await store.create(aTransaction(gid, due))
        await databases.sql(
          `UPDATE counterstep_transactions SET ${column} = 99 WHERE gid = 'newer-too'`,
          ownerUrl,
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

    it('A row of a newer format is neither claimed nor postponed, and can be read', async () => {
      const store = await openPostgresStore({ url: (await databases.migrated('newer-format')).url })
      await store.create(aTransaction('known', due))
      await store.create(aTransaction('newer', { ...due, format: 2 }))
      const claim = { leaseMs: 10_000, formatMax: 1 }
      const one = { ...claim, gid: asGid('newer'), token: drawToken() }
      expect(await store.claim(one)).toEqual({ type: 'refused', reason: 'format' })
      const tokens = [drawToken(), drawToken()]
      const { claimed } = await store.claimDue({ ...claim, limit: 2, tokens })
      expect(claimed.map(({ gid }) => gid)).toEqual(['known'])
      expect((await store.postponeDue({ limit: 2, byMs: 1, formatMax: 1 })).gids).toEqual([])
      expect(await store.readMany([asGid('newer')])).toMatchObject([{ format: 2, epoch: 1 }])
      expect(await store.claim({ ...one, formatMax: 2 })).toMatchObject({ type: 'claimed' })
      await store.close()
    })

    it('The same create sent again is recognised also when its row has the status of a later version', async () => {
      const { url, ownerUrl } = await databases.migrated('newer-again')
      const store = await openPostgresStore({ url })
      const row = aTransaction('a')
      await store.create(row)
      await databases.sql('UPDATE counterstep_transactions SET status = 99', ownerUrl)
      expect(await store.create(row)).toMatchObject({ type: 'created' })
      await expect(store.create(aTransaction('a'))).rejects.toMatchObject({ code: 'SAGA_INTERNAL' })
      await store.close()
    })
  })
}
