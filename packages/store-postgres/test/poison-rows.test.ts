import { describeOn } from '@counterstep/test-servers/vitest'
import { expect, it } from 'vitest'
import { openPostgresStore } from '../src/open-postgres-store.ts'
import type { PostgresStore } from '../src/postgres-store.ts'
import { testDatabases } from './test-database.ts'
import { asGid, aTransaction, makeGids, makeUpdate } from './transactions.ts'

/** The key of an index holds no more than about a third of a page, and random letters do not compress. */
const TOO_LONG_GID = Array.from({ length: 6_000 }, () => Math.random().toString(36).at(-1)).join('')

const CREATES = {
  'nothing where a text must be': { progress: null },
  'no value at all': { progress: undefined },
  'an object': { progress: { toPostgres: () => '1' } },
  'a function': { definition: () => '' },
  'a list': { definition: ['a', 'b'] },
  bytes: { definition: Buffer.from('a') },
  'a fraction': { format: 1.5 },
  'not a number': { format: Number.NaN },
  'a number out of range': { format: 2 ** 40 },
  'a delay that is no number': { hold: { type: 'owned', leaseMs: 0.5 } },
  'an unknown kind': { kind: 'dance' },
  'a gid that no index holds': { gid: TOO_LONG_GID },
}

const UPDATES = {
  'nothing where a text must be': { progress: null },
  'an object': { progress: {} },
  'a number out of range': { format: 2 ** 40 },
  'a retention that is no number': { status: 'failed', hold: { type: 'finish', retentionMs: 0.5 } },
}

for (const server of ['postgres', 'postgres18'] as const) {
  describeOn(server, 'a row that cannot be written', (serverUrl) => {
    const databases = testDatabases(serverUrl)
    let places = 0

    async function withStore(test: (store: PostgresStore) => Promise<void>) {
      places += 1
      const store = await openPostgresStore({ url: (await databases.migrated(`poison-${places}`)).url })
      try {
        await test(store)
      } finally {
        await store.close()
      }
    }

    for (const [name, change] of Object.entries(CREATES)) {
      it(`A row that cannot be written fails alone among creates: ${name}`, () =>
        withStore(async (store) => {
          const poison = { ...aTransaction('poison'), ...change } as ReturnType<typeof aTransaction>
          const before = ['a', 'b', 'c'].map((gid) => store.create(aTransaction(gid)))
          const failed = store.create(poison)
          const after = store.create(aTransaction('z'))
          await expect(failed).rejects.toMatchObject({ code: 'SAGA_INTERNAL' })
          for (const create of [...before, after]) expect(await create).toMatchObject({ type: 'created' })
          expect((await store.list({ limit: 10 })).items.map(({ gid }) => gid).sort()).toEqual([
            ...['a', 'b', 'c', 'z'],
          ])
        }))
    }

    for (const [name, change] of Object.entries(UPDATES)) {
      it(`A row that cannot be written fails alone among updates: ${name}`, () =>
        withStore(async (store) => {
          const transactions = ['a', 'b', 'poison', 'z'].map((gid) => aTransaction(gid))
          await Promise.all(transactions.map((transaction) => store.create(transaction)))
          const results = await Promise.allSettled(
            transactions.map((transaction) =>
              store.update(
                makeUpdate(transaction, {
                  progress: 'new',
                  ...(transaction.gid === 'poison' && (change as object)),
                }),
              ),
            ),
          )
          const outcome = results.map((result) =>
            result.status === 'fulfilled' ? result.value.type : (result.reason as { code: string }).code,
          )
          expect(outcome).toEqual(['saved', 'saved', 'SAGA_INTERNAL', 'saved'])
          expect(await store.readMany([asGid('poison')])).toMatchObject([{ progress: '{}', version: 1 }])
        }))
    }

    it('Several bad rows in a full flush fail alone, and no session is lost over them', () =>
      withStore(async (store) => {
        const transactions = makeGids(200).map((gid, i) =>
          aTransaction(gid, i % 50 === 0 ? { format: 2 ** 40 } : {}),
        )
        const results = await Promise.allSettled(transactions.map((transaction) => store.create(transaction)))
        const failed = results.flatMap(({ status }, i) => (status === 'rejected' ? [i] : []))
        expect(failed).toEqual([0, 50, 100, 150])
        const sessions = `SELECT count(*) FROM pg_stat_activity WHERE usename = '${(await databases.migrated(`poison-${places}`)).name}'`
        expect(Number((await databases.sql(sessions))[0]?.[0])).toBeLessThanOrEqual(10)
        expect(store.counters().retries).toBe(0)
      }))
  })
}
