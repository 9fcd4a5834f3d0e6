import { describeOn } from '@counterstep/test-servers/vitest'
import { expect, it } from 'vitest'
import { openPostgresStore, type PostgresOptions } from '../src/open-postgres-store.ts'
import type { PostgresStore } from '../src/postgres-store.ts'
import { expectUnavailable } from './expect-unavailable.ts'
import { testDatabases } from './test-database.ts'
import { asGid, aTransaction, makeGids, makeUpdate } from './transactions.ts'

for (const server of ['postgres', 'postgres18'] as const) {
  describeOn(server, 'group commit', (serverUrl) => {
    const databases = testDatabases(serverUrl)
    let places = 0

    async function withStore(
      options: Partial<PostgresOptions>,
      test: (store: PostgresStore) => Promise<void>,
    ) {
      places += 1
      const { url } = await databases.migrated(`commit-${places}`)
      const store = await openPostgresStore({ url, ...options })
      try {
        await test(store)
      } finally {
        await store.close()
      }
    }

    it('One commit has all writes of one turn of the event loop', () =>
      withStore({}, async (store) => {
        const transactions = makeGids(64).map((gid) => aTransaction(gid))
        await Promise.all(transactions.map((transaction) => store.create(transaction)))
        expect(store.counters()).toEqual({ commits: 1, rows: 64, retries: 0 })
        const updates = transactions.map((transaction) => store.update(makeUpdate(transaction)))
        await Promise.all([...updates, store.create(aTransaction('beside'))])
        expect(store.counters()).toEqual({ commits: 2, rows: 129, retries: 0 })
      }))

    it('Writes are collected while as many flushes as allowed are in flight', () =>
      withStore({ flushesInFlightMax: 1 }, async (store) => {
        const first = store.create(aTransaction('first'))
        await new Promise(setImmediate)
        const rest = makeGids(100).map((gid) => store.create(aTransaction(gid)))
        await Promise.all([first, ...rest])
        expect(store.counters()).toMatchObject({ commits: 2, rows: 101 })
      }))

    it('The rows of a commit are bounded', () =>
      withStore({ batchRowsMax: 10 }, async (store) => {
        await Promise.all(makeGids(25).map((gid) => store.create(aTransaction(gid))))
        expect(store.counters()).toMatchObject({ commits: 3, rows: 25 })
      }))

    it('The bytes of a commit are bounded, and a row that is larger is still written', () =>
      withStore({ batchBytesMax: 1_500 }, async (store) => {
        const sizes = [400, 400, 400, 5_000]
        const creates = sizes.map((size, i) =>
          store.create(aTransaction(`t-${i}`, { definition: 'x'.repeat(size) })),
        )
        await Promise.all(creates)
        expect(store.counters()).toMatchObject({ commits: 3, rows: 4 })
      }))

    it('A write for which the queue has no room is refused for certain', () =>
      withStore({ queueRowsMax: 10 }, async (store) => {
        const creates = makeGids(12).map((gid) => store.create(aTransaction(gid)))
        await Promise.all(creates.slice(10).map((create) => expectUnavailable(create, 'no')))
        await Promise.all(creates.slice(0, 10))
        expect(await store.create(aTransaction('later'))).toMatchObject({ type: 'created' })
        expect((await store.list({ limit: 20 })).items).toHaveLength(11)
      }))

    it('A write that would take too much memory is refused for certain', () =>
      withStore({ queueBytesMax: 5_000 }, async (store) => {
        const large = { definition: 'x'.repeat(4_000) }
        const creates = ['a', 'b'].map((gid) => store.create(aTransaction(gid, large)))
        await expectUnavailable(creates[1] ?? Promise.resolve(), 'no')
        expect(await creates[0]).toMatchObject({ type: 'created' })
      }))

    it('A gid is once in a commit, and its writes keep their order', () =>
      withStore({}, async (store) => {
        const transaction = aTransaction('a')
        const update = makeUpdate(transaction, { progress: 'first' })
        const results = await Promise.all([
          store.create(transaction),
          store.create(aTransaction('a')),
          store.update(update),
          store.update(makeUpdate(transaction, { progress: 'second' })),
          store.update(update),
          store.create(aTransaction('b')),
        ])
        const types = results.map(({ type }) => type)
        expect(types).toEqual(['created', 'exists', 'saved', 'conflict', 'saved', 'created'])
        expect(store.counters()).toMatchObject({ commits: 5, rows: 6 })
        expect(await store.readMany([asGid('a')])).toMatchObject([{ progress: 'first' }])
      }))

    it('A row that is not as its writer knew it leaves its neighbours alone', () =>
      withStore({}, async (store) => {
        const [late, other, fenced] = ['a', 'b', 'c'].map((gid) => aTransaction(gid))
        if (late === undefined || other === undefined || fenced === undefined) throw new Error('no rows')
        await Promise.all([late, other, fenced].map((row) => store.create(row)))
        const saved = await store.update(makeUpdate(late))
        const results = await Promise.all([
          store.create(aTransaction('new')),
          store.update(makeUpdate(late, { progress: 'late' })),
          store.update(makeUpdate(other, { progress: 'new' })),
          store.update(makeUpdate(aTransaction('c'), { progress: 'foreign' })),
          store.update(makeUpdate(aTransaction('absent'))),
        ])
        expect(results.map(({ type }) => type)).toEqual(['created', 'conflict', 'saved', 'fenced', 'absent'])
        expect(results[1]).toMatchObject({ version: saved.type === 'saved' ? saved.version : 0 })
        const rows = await store.readMany(['a', 'b', 'c', 'new'].map(asGid))
        expect(new Map(rows.map(({ gid, progress }) => [gid as string, progress]))).toEqual(
          new Map([
            ['a', '{}'],
            ['b', 'new'],
            ['c', '{}'],
            ['new', '{}'],
          ]),
        )
      }))

    it('A write has certainly failed when its statement is refused', () =>
      withStore({}, async (store) => {
        const { ownerUrl } = await databases.empty(`commit-${places}`)
        const transaction = aTransaction('a')
        await databases.sql('ALTER TABLE counterstep_transactions RENAME TO away', ownerUrl)
        await expectUnavailable(store.create(transaction), 'no')
        await databases.sql('ALTER TABLE away RENAME TO counterstep_transactions', ownerUrl)
        expect(await store.create(transaction)).toMatchObject({ type: 'created' })
      }))
  })
}
