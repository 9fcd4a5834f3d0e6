import { statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSqliteStore } from '../src/open-sqlite-store.ts'
import type { SqliteStore } from '../src/sqlite-store.ts'
import { temporaryFolder } from './temporary-folder.ts'
import { aTransaction } from './transactions.ts'

const folder = await temporaryFolder()
const ROWS = 10_000
const SCANS = 40
const MEBIBYTE = 1024 * 1024

describe('readers beside writers', () => {
  let store: SqliteStore

  beforeAll(async () => {
    store = await openSqliteStore({ path: join(folder, 'readers.db') })
    await Promise.all(Array.from({ length: ROWS }, (_, at) => store.create(aTransaction(`t-${at}`))))
    // The answer shows that the reader's thread has started.
    await store.list({ limit: 1 })
  })

  afterAll(() => store.close())

  const scans = {
    'a list whose filter matches nothing': () => store.list({ limit: 200, attention: true }),
    'a list of another kind': () => store.list({ limit: 1, kind: 'tcc', createdTo: Number.MAX_SAFE_INTEGER }),
    'the counts of a metrics page': () => store.stats(),
  }

  for (const [name, scan] of Object.entries(scans)) {
    it(`A write waits for no scan: ${name}`, async () => {
      let scanned = 0
      const all = Array.from({ length: SCANS }, async () => {
        await scan()
        scanned += 1
      })
      await store.create(aTransaction(`beside ${name.replaceAll(' ', '-')}`.replace(' ', '-')))
      const before = scanned
      await Promise.all(all)
      expect(before).toBeLessThan(SCANS)
    })
  }

  it('A read that no message can bring is refused, and takes no place from others', async () => {
    const odd = { limit: 1, name: (() => 'odd') as never }
    for (let time = 0; time < 1_000; time++)
      await expect(store.list(odd)).rejects.toThrow('could not be cloned')
    expect((await store.list({ limit: 1 })).items).toHaveLength(1)
  })

  it('A read shows every write that was acknowledged before it', async () => {
    const gids = Array.from({ length: 500 }, (_, at) => `own-${at}`)
    const seen = gids.map(async (gid) => {
      const row = aTransaction(gid)
      await store.create(row)
      return (await store.readMany([row.gid])).length
    })
    expect(await Promise.all(seen)).toEqual(gids.map(() => 1))
  })

  it('A list that is read without a break shows the newest write at its head', async () => {
    for (let round = 0; round < 50; round++) {
      const row = aTransaction(`newest-${round}`)
      const [{ items: before }] = await Promise.all([store.list({ limit: 200 }), store.create(row)])
      const { items } = await store.list({ limit: 200 })
      expect(items.map(({ gid }) => gid)).toContain(row.gid)
      expect(before.length).toBeGreaterThan(0)
    }
  })
})

describe('the write-ahead log beside readers', () => {
  it('The write-ahead log starts anew though reads follow each other without a break', {
    timeout: 60_000,
  }, async () => {
    const path = join(folder, 'log.db')
    const store = await openSqliteStore({ path })
    const large = { definition: 'x'.repeat(256 * 1024) }
    await Promise.all(Array.from({ length: ROWS }, (_, at) => store.create(aTransaction(`t-${at}`))))
    let isOver = false
    // So many reads wait that the reader's thread is never idle.
    const readers = Array.from({ length: 16 }, async () => {
      while (!isOver) await store.list({ limit: 200, attention: true })
    })
    // The log may have eight times its size before a checkpoint.
    for (let round = 0; round < 64; round++) {
      const rows = Array.from({ length: 16 }, (_, at) => aTransaction(`${round}-${at}`, large))
      await Promise.all(rows.map((row) => store.create(row)))
    }
    expect(statSync(`${path}-wal`).size).toBeLessThan(128 * MEBIBYTE)
    isOver = true
    await Promise.all(readers)
    await store.close()
  })
})
