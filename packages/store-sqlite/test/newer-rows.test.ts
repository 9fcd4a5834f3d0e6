import { join } from 'node:path'
import type { Gid } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { openDatabase } from '../src/node-driver.ts'
import { openSqliteStore } from '../src/open-sqlite-store.ts'
import type { SqliteStore } from '../src/sqlite-store.ts'
import { temporaryFolder } from './temporary-folder.ts'
import { aTransaction } from './transactions.ts'

const folder = await temporaryFolder()
const claim = { leaseMs: 10_000, formatMax: 1 }
const tokens = ['1', '2', '3'].map((digit) => digit.repeat(32))
const [token = ''] = tokens

describe('rows of a later version', () => {
  for (const column of ['kind', 'status', 'sent_list']) {
    const gid = 'newer' as Gid

    it(`A row of a later version does not spoil the others: an unknown ${column}`, async () => {
      const store = await withNewer(column)
      expect((await store.readMany([gid, 'known' as Gid])).map((row) => row.gid)).toEqual(['known'])
      await expect(store.readMany([gid])).rejects.toMatchObject({ code: 'SAGA_INTERNAL' })
      expect(await store.claim({ ...claim, gid, token })).toEqual({ type: 'refused', reason: 'format' })
      const { claimed } = await store.claimDue({ ...claim, limit: 3, tokens })
      expect(claimed.map((row) => row.gid)).toEqual(['older', 'known'])
      expect((await store.stats()).oldestDueAt).toBe(1_002)
      await store.close()
    })

    it(`A row of a later version does not spoil a page: an unknown ${column}`, async () => {
      const store = await withNewer(column)
      const listed = column === 'sent_list' ? ['known', 'newer', 'older'] : ['known', 'older']
      expect((await store.list({ limit: 10 })).items.map((row) => row.gid)).toEqual(listed)
      const paged: string[] = []
      let page = await store.list({ limit: 1 })
      for (let pages = 0; pages < 3; pages++) {
        paged.push(...page.items.map((row) => row.gid))
        if (page.cursor === undefined) break
        page = await store.list({ limit: 1, cursor: page.cursor })
      }
      expect(paged).toEqual(listed)
      await store.close()
    })
  }

  it('A row of a later version is not postponed', async () => {
    const store = await withNewer('kind')
    const { gids } = await store.postponeDue({ limit: 3, byMs: 10_000, formatMax: 1 })
    expect(gids).toEqual(['older', 'known'])
    await store.close()
  })

  it('A row of a later version keeps its gid: a create beside an unknown status is a bug', async () => {
    const store = await withNewer('status')
    await expect(store.create(aTransaction('newer'))).rejects.toMatchObject({ code: 'SAGA_INTERNAL' })
    await store.close()
  })
})

/**
 * Creates the rows older, newer and known in this order. All are due, and `newer` has a code that this version does
 * not know.
 */
async function withNewer(column: string): Promise<SqliteStore> {
  const path = join(folder, `${expect.getState().currentTestName}.db`.replaceAll(/[ :>]/g, '-'))
  let now = 1_000
  const open = () => openSqliteStore({ path, now: () => now })
  const first = await open()
  for (const gid of ['older', 'newer', 'known']) {
    now += 1
    await first.create(aTransaction(gid, { hold: { type: 'waiting', dueInMs: 0 } }))
  }
  await first.close()
  const database = openDatabase(path)
  database.exec(`UPDATE transactions SET ${column} = 99 WHERE gid = 'newer'`)
  database.close()
  now += 1
  return open()
}
