import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openDatabase } from '../src/node-driver.ts'
import { openSqliteStore } from '../src/open-sqlite-store.ts'
import { temporaryFolder } from './temporary-folder.ts'
import { aTransaction, makeFinish } from './transactions.ts'

const folder = await temporaryFolder()
const ROWS = 600
// These texts are as long as those of a saga with two branches: two URLs and bodies, and at the end two calls with
// their outcomes.
const definition = JSON.stringify({ branches: 'x'.repeat(640) })
const progress = JSON.stringify({ b: 'y'.repeat(340) })

async function writeFile(name: string, ends: boolean): Promise<string> {
  const path = join(folder, name)
  const store = await openSqliteStore({ path })
  const rows = Array.from({ length: ROWS }, (_, at) => aTransaction(`t-${at}`, { definition }))
  await Promise.all(rows.map((row) => store.create(row)))
  if (ends) await Promise.all(rows.map((row) => store.update({ ...makeFinish(row), progress })))
  await store.close()
  return path
}

function numberIn(path: string, sql: string): number {
  const database = openDatabase(path)
  const [value] = database.prepare(sql).get() ?? []
  database.close()
  return Number(value)
}

describe('the room of a new row', () => {
  it('A new row has room for what the finish writes, so that hardly a page is split', async () => {
    const started = numberIn(await writeFile('started.db', false), 'PRAGMA page_count')
    const finished = numberIn(await writeFile('finished.db', true), 'PRAGMA page_count')
    expect(finished / started).toBeLessThan(1.05)
  })

  it('The room of a row is given back by the first save', async () => {
    const path = await writeFile('given-back.db', true)
    expect(numberIn(path, 'SELECT count(*) FROM transactions WHERE room IS NULL')).toBe(ROWS)
  })

  it.each([
    [1_000, 600],
    [2_600, 1_024],
    // The row would not fit a page with its room.
    [2_601, 0],
  ])('The room for a definition of %i bytes is %i bytes', async (definitionBytes, roomBytes) => {
    const path = join(folder, `${definitionBytes}.db`)
    const store = await openSqliteStore({ path })
    await store.create(aTransaction('a', { definition: 'x'.repeat(definitionBytes) }))
    await store.close()
    expect(numberIn(path, 'SELECT length(room) FROM transactions')).toBe(roomBytes)
  })
})
