import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { DocumentWrite } from '@counterstep/core'
import { describe, expect, it } from 'vitest'
import { MIGRATIONS } from '../src/generated/sql.ts'
import { migrate } from '../src/migrate.ts'
import { openDatabase } from '../src/node-driver.ts'
import { openSqliteStore } from '../src/open-sqlite-store.ts'
import { expectUnavailable } from './expect-unavailable.ts'
import { temporaryFolder } from './temporary-folder.ts'

const folder = await temporaryFolder()
const driver = new URL('./faulty-driver.ts', import.meta.url)
const CATEGORY = 'topics'

function aDocument(key: string, change: Partial<DocumentWrite> = {}): DocumentWrite {
  return { category: CATEGORY, key, text: 'text', expectedVersion: 0, writeId: `w-${key}`, ...change }
}

describe('a document whose commit goes wrong', () => {
  it('A document with a failed commit is unknown, and lands once when it is sent again after the next opening', async () => {
    for (const fault of ['flush', 'write', 'exit']) {
      const path = join(folder, `${fault}.db`)
      const store = await openSqliteStore({ path, driver })
      await store.writeDocument(aDocument('a'))
      const update = aDocument('a', { text: 'new', expectedVersion: 1, writeId: 'second' })
      const removal = { category: CATEGORY, key: 'a', expectedVersion: 2 }
      await writeFile(`${path}-fault`, fault)
      await expectUnavailable(store.writeDocument(update), 'unknown')
      await expectUnavailable(store.removeDocument(removal), 'unknown')
      await expectUnavailable(store.readDocuments(CATEGORY), 'unknown')
      await store.close()
      const again = await openSqliteStore({ path })
      expect(await again.writeDocument(update)).toEqual({ type: 'written', version: 2 })
      expect(await again.readDocuments(CATEGORY)).toMatchObject([{ key: 'a', text: 'new', version: 2 }])
      await again.close()
    }
  })

  it('A document is refused for certain where the disk is full, and written when it is not', async () => {
    const path = join(folder, 'full.db')
    const store = await openSqliteStore({ path, driver })
    await store.writeDocument(aDocument('a'))
    await writeFile(`${path}-fault`, 'full at commit')
    await expectUnavailable(store.writeDocument(aDocument('b')), 'no')
    expect(await store.readDocuments(CATEGORY)).toHaveLength(1)
    await writeFile(`${path}-fault`, '')
    expect(await store.writeDocument(aDocument('b'))).toEqual({ type: 'written', version: 1 })
    await store.close()
  })
})

describe('a file of schema 1', () => {
  it('A file of schema 1 gets the documents, and code of schema 1 may still open it', async () => {
    const path = join(folder, 'schema-1.db')
    const old = MIGRATIONS.slice(0, 1)
    const before = openDatabase(path)
    migrate(before, 0, old)
    before.close()
    const store = await openSqliteStore({ path })
    expect(await store.writeDocument(aDocument('a'))).toEqual({ type: 'written', version: 1 })
    await store.close()
    const after = openDatabase(path)
    expect(() => migrate(after, 0, old)).not.toThrow()
    expect(after.prepare('SELECT max(version) FROM schema_versions').get()).toEqual([MIGRATIONS.length])
    after.close()
  })
})
