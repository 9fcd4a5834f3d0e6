import { mkdir, mkdtemp, readdir, readFile, rmdir, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { StoreEvent, StoreUnavailableError } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { openSqliteStore } from '../src/open-sqlite-store.ts'
import type { SqliteStore } from '../src/sqlite-store.ts'
import { expectUnavailable } from './expect-unavailable.ts'
import { temporaryFolder } from './temporary-folder.ts'
import { aTransaction, makeFinish } from './transactions.ts'

const folder = await temporaryFolder()
const driver = new URL('./faulty-driver.ts', import.meta.url)
const large = { definition: 'x'.repeat(20_000) }

describe('a full disk', () => {
  for (const fault of ['full', 'full at commit']) {
    it(`A full disk refuses the batch for certain, and later work goes on by itself: ${fault}`, async () => {
      const path = join(folder, `${fault}.db`)
      const store = await openSqliteStore({ path, driver })
      const first = aTransaction('first', large)
      await store.create(first)
      await writeFile(`${path}-fault`, fault)
      const refused = ['a', 'b', 'c'].map((gid) => store.create(aTransaction(gid, large)))
      for (const create of refused) await expectUnavailable(create, 'no')
      expect(await readGids(store)).toEqual(['first'])
      await writeFile(`${path}-fault`, '')
      expect(await store.create(aTransaction('later', large))).toMatchObject({ type: 'created' })
      expect(await store.update(makeFinish(first))).toMatchObject({ type: 'saved' })
      await store.close()
      const again = await openSqliteStore({ path })
      expect(await readGids(again)).toEqual(['first', 'later'])
      await again.close()
    })
  }
})

describe('a broken store', () => {
  for (const fault of ['flush', 'write', 'exit']) {
    it(`A broken store says of every later call that its outcome is unknown: ${fault}`, async () => {
      const path = join(folder, `${fault}.db`)
      const broken: StoreUnavailableError[] = []
      const store = await openSqliteStore({ path, driver, onBroken: (error) => broken.push(error) })
      const first = aTransaction('first')
      await store.create(first)
      await writeFile(`${path}-fault`, fault)
      const underWay = store.create(aTransaction('under-way'))
      await new Promise(setImmediate)
      const queued = store.create(aTransaction('queued'))
      await expectUnavailable(underWay, 'unknown')
      await expectUnavailable(queued, 'unknown')
      await writeFile(`${path}-fault`, '')
      await expectUnavailable(store.update(makeFinish(first)), 'unknown')
      await expectUnavailable(store.readMany(['first' as Gid]), 'unknown')
      await expectUnavailable(store.stats(), 'unknown')
      expect(broken).toHaveLength(1)
      await store.close()
      await expectUnavailable(store.create(first), 'unknown')
      const again = await openSqliteStore({ path })
      expect(await readGids(again)).toContain('first')
      expect(await readGids(again)).not.toContain('queued')
      await again.close()
    })
  }
})

describe('a store after a flush that failed', () => {
  /** Leaves a store that has broken at this fault, with one transaction. */
  const breakAt = async (fault: string) => {
    const path = join(await mkdtemp(join(folder, 'unflushed-')), 'a.db')
    const store = await openSqliteStore({ path, driver, onBroken: () => undefined })
    await store.create(aTransaction('first'))
    await writeFile(`${path}-fault`, fault)
    await expectUnavailable(store.create(aTransaction('under-way')), 'unknown')
    await writeFile(`${path}-fault`, '')
    await store.close()
    return path
  }
  const open = async (path: string) => {
    const events: StoreEvent[] = []
    const store = await openSqliteStore({ path, onEvent: (event) => events.push(event) })
    const gids = await readGids(store)
    await store.close()
    return { gids, events: events.map(({ level, name }) => `${level} ${name}`) }
  }
  for (const fault of ['flush', 'write']) {
    it(`The next start writes the log and the database to new files, and tells the operator: ${fault}`, async () => {
      const path = await breakAt(fault)
      const before = await stat(path)
      await writeFile(`${path}-rewritten`, 'left by a start that died')
      expect(await open(path)).toEqual({ gids: ['first'], events: ['warn store-rewritten'] })
      expect((await stat(path)).ino).not.toBe(before.ino)
      expect((await stat(path)).mode & 0o777).toBe(0o600)
      expect(await readdir(dirname(path))).not.toContain('a.db-unflushed')
      expect(await open(path)).toEqual({ gids: ['first'], events: [] })
    })
  }

  it('A process that only ends leaves no mark', async () => {
    const path = await breakAt('exit')
    const { ino } = await stat(path)
    expect(await open(path)).toEqual({ gids: ['first'], events: [] })
    expect((await stat(path)).ino).toBe(ino)
  })

  it('A start that cannot write the files anew is refused, again and again, and changes nothing', async () => {
    const path = await breakAt('flush')
    const before = await readFile(path)
    await mkdir(`${path}-rewritten`)
    for (let n = 0; n < 2; n++) await expect(open(path)).rejects.toThrow('an earlier flush of')
    expect(await readFile(path)).toEqual(before)
    await rmdir(`${path}-rewritten`)
    expect(await open(path)).toEqual({ gids: ['first'], events: ['warn store-rewritten'] })
  })
})

async function readGids(store: SqliteStore): Promise<readonly string[]> {
  const { items } = await store.list({ limit: 10 })
  return items.map((item) => item.gid).sort()
}
