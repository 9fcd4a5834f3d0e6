import { describeOn } from '@counterstep/test-servers/vitest'
import { describe, expect, it } from 'vitest'
import type { MysqlStore } from '../src/mysql-store.ts'
import { type MysqlOptions, openMysqlStore } from '../src/open-mysql-store.ts'
import { expectUnavailable } from './expect-unavailable.ts'
import { testDatabases } from './test-database.ts'
import { asGid, aTransaction, makeGids, makeUpdate } from './transactions.ts'

const MEBIBYTE = 1024 * 1024

for (const server of ['mariadb', 'mysql'] as const) {
  describeOn(server, 'group commit', (serverUrl) => {
    const databases = testDatabases(serverUrl)
    let places = 0

    async function withStore(options: Partial<MysqlOptions>, test: (store: MysqlStore) => Promise<void>) {
      places += 1
      const { url } = await databases.migrated(`commit-${places}`)
      const store = await openMysqlStore({ url, ...options })
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

    it('A write has certainly failed when a statement before the COMMIT is refused', () =>
      withStore({}, async (store) => {
        const { name } = await databases.empty(`commit-${places}`)
        const [table, away] = [`${name}.counterstep_transactions`, `${name}.away`]
        const transaction = aTransaction('a')
        await databases.sql(`RENAME TABLE ${table} TO ${away}`)
        await expectUnavailable(store.create(transaction), 'no')
        await databases.sql(`RENAME TABLE ${away} TO ${table}`)
        expect(await store.create(transaction)).toMatchObject({ type: 'created' })
      }))

    describe('a row that cannot be written', () => {
      const creates = {
        'nothing where a text must be': { progress: null },
        'no value at all': { progress: undefined },
        'an object': { progress: { toSqlString: () => '1' } },
        'a function': { definition: () => '' },
        'a fraction': { format: 1.5 },
        'not a number': { format: Number.NaN },
        'a number out of range': { format: 2 ** 40 },
        'a delay that is no number': { hold: { type: 'owned', leaseMs: 0.5 } },
        'a delay beyond all instants': { hold: { type: 'owned', leaseMs: Number.MAX_SAFE_INTEGER } },
        'an unknown kind': { kind: 'dance' },
        'a gid that is too long': { gid: 'x'.repeat(129) },
        'a write id that is too long': { writeId: 'x'.repeat(33) },
        'more than a column or a packet holds': { definition: 'x'.repeat(17 * MEBIBYTE) },
      }
      for (const [name, change] of Object.entries(creates)) {
        it(`A row that cannot be written fails alone among creates: ${name}`, () =>
          withStore({ batchBytesMax: 64 * MEBIBYTE }, async (store) => {
            const poison = { ...aTransaction('poison'), ...change } as ReturnType<typeof aTransaction>
            const before = ['a', 'b', 'c'].map((gid) => store.create(aTransaction(gid)))
            const failed = store.create(poison)
            const after = store.create(aTransaction('z'))
            await expect(failed).rejects.toMatchObject({ code: 'SAGA_INTERNAL' })
            for (const create of [...before, after]) expect(await create).toMatchObject({ type: 'created' })
            expect(await store.readMany(['a', 'b', 'c', 'z', 'poison'].map(asGid))).toHaveLength(4)
          }))
      }

      const updates = {
        'nothing where a text must be': { progress: null },
        'a number out of range': { format: 2 ** 40 },
        'a write id that is too long': { writeId: 'x'.repeat(33) },
        'a retention that is no number': { status: 'failed', hold: { type: 'finish', retentionMs: 0.5 } },
        'more than a column or a packet holds': { progress: 'x'.repeat(17 * MEBIBYTE) },
      }
      for (const [name, change] of Object.entries(updates)) {
        it(`A row that cannot be written fails alone among updates: ${name}`, () =>
          withStore({ batchBytesMax: 64 * MEBIBYTE }, async (store) => {
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
    })
  })
}
