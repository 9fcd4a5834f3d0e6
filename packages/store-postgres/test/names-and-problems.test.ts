import { LIST_PIECE_ROWS, LIST_SCAN_MAX, type ListOrder, PARKED_AT, type Store } from '@counterstep/core'
import { describeOn } from '@counterstep/test-servers/vitest'
import { describe, expect, it } from 'vitest'
import { openPostgresStore } from '../src/open-postgres-store.ts'
import { testDatabases } from './test-database.ts'
import { asGid, aTransaction, makeGids, makeUpdate } from './transactions.ts'

const NAMED = { name: 'transfer', tags: { region: 'eu' } } as const

for (const server of ['postgres', 'postgres18'] as const) {
  describeOn(server, 'names, tags, problems and marks', (serverUrl) => {
    const databases = testDatabases(serverUrl)

    for (const multiplexed of [false, true]) {
      it(`Rows that are written together keep their own names and problems, ${multiplexed ? 'over a proxy' : 'at once'}`, async () => {
        const { url } = await databases.migrated(`together-${multiplexed}`)
        const store = await openPostgresStore({ url, multiplexed })
        const all = makeGids(40).map((gid, i) => aTransaction(gid, i % 3 === 0 ? NAMED : {}))
        await Promise.all(all.map((each) => store.create(each)))
        const versions = await Promise.all(
          all.map(async (each, i) => {
            const words = i % 4 === 0 ? {} : { problem: `p-${i % 3}`, attempts: i }
            const result = await store.update(
              makeUpdate(each, { ...words, ...(i % 5 === 0 && { marks: ['paused'] }) }),
            )
            return result.type === 'saved' ? result.version : 0
          }),
        )
        for (const [i, each] of all.entries()) {
          const [row] = await store.readMany([each.gid])
          expect([row?.name, row?.tags]).toEqual(
            i % 3 === 0 ? [NAMED.name, NAMED.tags] : [undefined, undefined],
          )
          expect([row?.problem, row?.attempts, row?.marks]).toEqual([
            i % 4 === 0 ? undefined : `p-${i % 3}`,
            i % 4 === 0 ? undefined : i,
            i % 5 === 0 ? ['paused'] : undefined,
          ])
        }
        await Promise.all(all.map((each, i) => store.update(makeUpdate(each, { version: versions[i] ?? 0 }))))
        const { problems, paused } = await store.stats()
        expect([problems, paused]).toEqual([[], 0])
        await store.close()
      })
    }

    describe('a page in the order of the due instants', () => {
      it('reads a bounded number of rows, and goes on behind rows of one instant', async () => {
        const { ownerUrl } = await databases.migrated('bounded')
        const store = await openPostgresStore({ url: ownerUrl })
        const template = aTransaction('template')
        await store.create(template)
        const rows = LIST_SCAN_MAX + 500
        // Three in four are parked, and so due at the same instant.
        const columns = `live, created_at, updated_at, version, epoch, format, claims, kind, status, owned, sent_list, retrying,
          attention, attempts, marks, token, write_id, digest, progress, definition`
        await databases.sql(
          `INSERT INTO counterstep_transactions (gid, due_at, ${columns})
            SELECT 'g-' || n, CASE n % 4 WHEN 0 THEN n ELSE ${PARKED_AT} END, ${columns}
            FROM counterstep_transactions, generate_series(1, ${rows}) n WHERE gid = 'template'`,
          ownerUrl,
        )
        for (const order of ['due', 'due-last'] as const) {
          const seen = await readGids(store, order)
          expect(new Set(seen).size).toBe(seen.length)
          expect(seen).toHaveLength(rows + 1)
          const bounded = await store.list({ limit: 1, order, kind: 'message' })
          expect(bounded.items).toEqual([])
          const { cursor = { at: 0, gid: asGid('') } } = bounded
          const scanned = seen.indexOf(cursor.gid) + 1
          // On a busy machine the time ends a page before the number does, behind a whole piece.
          expect(scanned % LIST_PIECE_ROWS).toBe(0)
          expect(scanned).toBeGreaterThan(0)
          expect(scanned).toBeLessThanOrEqual(LIST_SCAN_MAX)
          expect((await store.list({ limit: 1, order, kind: 'message', cursor })).items).toEqual([])
        }
        await store.close()
      }, 60_000)
    })
  })
}

async function readGids(store: Store, order: ListOrder): Promise<readonly string[]> {
  const gids: string[] = []
  for (let page = await store.list({ limit: 3_000, order }); ; ) {
    gids.push(...page.items.map(({ gid }) => gid))
    const { cursor } = page
    if (cursor === undefined) return gids
    page = await store.list({ limit: 3_000, order, cursor })
  }
}
