import { join } from 'node:path'
import type { Gid } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { openSqliteStore, type SqliteOptions } from '../src/open-sqlite-store.ts'
import type { SqliteStore } from '../src/sqlite-store.ts'
import { expectUnavailable } from './expect-unavailable.ts'
import { temporaryFolder } from './temporary-folder.ts'
import { aTransaction, makeFinish } from './transactions.ts'

const folder = await temporaryFolder()
let places = 0

async function withStore(options: Partial<SqliteOptions>, test: (store: SqliteStore) => Promise<void>) {
  places += 1
  const store = await openSqliteStore({ path: join(folder, `${places}.db`), ...options })
  await test(store)
  await store.close()
}

function gids(count: number): readonly string[] {
  return Array.from({ length: count }, (_, i) => `t-${i}`)
}

describe('group commit', () => {
  it('One commit has all writes of one turn of the event loop', () =>
    withStore({}, async (store) => {
      await Promise.all(gids(200).map((gid) => store.create(aTransaction(gid))))
      expect(store.counters()).toEqual({ commits: 1, rows: 200 })
    }))

  it('Writes are collected while a commit is under way', () =>
    withStore({}, async (store) => {
      const first = store.create(aTransaction('first'))
      await new Promise(setImmediate)
      const rest = gids(100).map((gid) => store.create(aTransaction(gid)))
      await Promise.all([first, ...rest])
      expect(store.counters()).toEqual({ commits: 2, rows: 101 })
    }))

  it('The rows of a commit are bounded', () =>
    withStore({ batchRowsMax: 10 }, async (store) => {
      await Promise.all(gids(25).map((gid) => store.create(aTransaction(gid))))
      expect(store.counters()).toEqual({ commits: 3, rows: 25 })
    }))

  it('The bytes of a commit are bounded, and a row that is larger is still written', () =>
    withStore({ batchBytesMax: 1_000 }, async (store) => {
      const sizes = [400, 400, 400, 5_000]
      await Promise.all(
        sizes.map((size, i) => store.create(aTransaction(`t-${i}`, { definition: 'x'.repeat(size) }))),
      )
      expect(store.counters().commits).toBe(3)
    }))

  it('A write for which the queue has no room is refused for certain', () =>
    withStore({ queueRowsMax: 10 }, async (store) => {
      const creates = gids(12).map((gid) => store.create(aTransaction(gid)))
      await expectUnavailable(creates[10] ?? Promise.resolve(), 'no')
      await expectUnavailable(creates[11] ?? Promise.resolve(), 'no')
      await Promise.all(creates.slice(0, 10))
      expect(await store.create(aTransaction('later'))).toMatchObject({ type: 'created' })
      expect((await store.list({ limit: 20 })).items).toHaveLength(11)
    }))

  it('The calls for one gid keep their order within one commit', () =>
    withStore({}, async (store) => {
      const transaction = aTransaction('a')
      const claim = { gid: transaction.gid, token: 'f'.repeat(32), leaseMs: 1_000, formatMax: 1 }
      const results = await Promise.all([
        store.create(transaction),
        store.claim(claim),
        store.update({ ...makeFinish(transaction), status: 'aborting', hold: { type: 'release', dueAt: 0 } }),
        store.claim(claim),
        store.update(makeFinish(transaction)),
      ])
      expect(results.map((result) => result.type)).toEqual([
        'created',
        'refused',
        'saved',
        'claimed',
        'fenced',
      ])
      expect(store.counters().commits).toBe(1)
    }))

  const poisons = {
    'nothing where a text must be': { progress: null },
    'no value at all': { progress: undefined },
    'a fraction in a whole column': { format: 1.5 },
    'a value that no message can carry': { definition: () => '' },
  }
  for (const [name, change] of Object.entries(poisons)) {
    it(`A row that cannot be written fails alone: ${name}`, () =>
      withStore({}, async (store) => {
        const poison = { ...aTransaction('poison'), ...change } as unknown as ReturnType<typeof aTransaction>
        const creates = ['a', 'b'].map((gid) => store.create(aTransaction(gid)))
        const failed = store.create(poison)
        const after = store.create(aTransaction('c'))
        await expect(failed).rejects.toMatchObject({ code: 'SAGA_INTERNAL' })
        for (const create of [...creates, after]) expect(await create).toMatchObject({ type: 'created' })
        expect(await store.readMany(['a', 'b', 'c', 'poison'] as Gid[])).toHaveLength(3)
      }))
  }
})
