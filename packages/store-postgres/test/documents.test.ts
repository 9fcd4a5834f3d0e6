import type { DocumentWrite } from '@counterstep/core'
import { isPostgresCommit } from '@counterstep/test-servers'
import { describeOn } from '@counterstep/test-servers/vitest'
import { expect, it } from 'vitest'
import { openPostgresStore } from '../src/open-postgres-store.ts'
import { expectUnavailable } from './expect-unavailable.ts'
import { type ProxiedStore, withProxiedStore } from './proxied-store.ts'
import { testDatabases } from './test-database.ts'
import { aTransaction, drawToken } from './transactions.ts'
import { sendUntilDefinite } from './until-definite.ts'

const CATEGORY = 'topics'
const AMBIGUOUS_COMMITS = 100
const CALLERS = 4

const LOSSES = { 'the COMMIT was lost': 'request', 'its answer was lost': 'answer' } as const

const isLock = (sql: string) => sql.includes('INSERT INTO counterstep_documents')

function aDocument(key: string, change: Partial<DocumentWrite> = {}): DocumentWrite {
  return { category: CATEGORY, key, text: 'text', expectedVersion: 0, writeId: drawToken(), ...change }
}

for (const server of ['postgres', 'postgres18', 'pgbouncer'] as const) {
  describeOn(server, 'documents', (serverUrl) => {
    const databases = testDatabases(serverUrl)
    let places = 0

    async function withProxy(test: (proxied: ProxiedStore) => Promise<void>) {
      places += 1
      const { url } = await databases.migrated(`documents-${places}`)
      await withProxiedStore(url, { multiplexed: server === 'pgbouncer' }, test)
    }

    for (const [name, part] of Object.entries(LOSSES)) {
      it(`A document is unknown when ${name}, and lands once when it is sent again`, () =>
        withProxy(async ({ store, wire }) => {
          const writes = [aDocument('a'), aDocument('a', { text: 'new', expectedVersion: 1 })]
          for (const [i, write] of writes.entries()) {
            const fault = wire.lose(part, isPostgresCommit)
            await expectUnavailable(store.writeDocument(write), 'unknown')
            expect(fault.bites()).toBe(1)
            expect(await store.writeDocument(write)).toEqual({ type: 'written', version: i + 1 })
          }
          expect(await store.readDocuments(CATEGORY)).toMatchObject([{ key: 'a', text: 'new', version: 2 }])
          const removal = { category: CATEGORY, key: 'a', expectedVersion: 2 }
          const fault = wire.lose(part, isPostgresCommit)
          await expectUnavailable(store.removeDocument(removal), 'unknown')
          expect(fault.bites()).toBe(1)
          expect((await store.removeDocument(removal)).type).toMatch(/^(removed|absent)$/)
          expect(await store.readDocuments(CATEGORY)).toEqual([])
        }))
    }

    it('Documents are neither lost nor doubled over many lost commits', { timeout: 120_000 }, () =>
      withProxy(async ({ store, wire }) => {
        let commits = 0
        const everyThird = (rest: number) => (sql: string) => isPostgresCommit(sql) && commits++ % 3 === rest
        const faults = [
          wire.lose('request', everyThird(0), AMBIGUOUS_COMMITS / 2),
          wire.lose('answer', everyThird(1), AMBIGUOUS_COMMITS / 2),
        ]
        const bites = () => faults.reduce((sum, fault) => sum + fault.bites(), 0)
        const versions = new Map<string, number>()
        const call = async (_: unknown, caller: number) => {
          const key = `k-${caller}`
          for (let version = 0; bites() < AMBIGUOUS_COMMITS; version++) {
            const write = aDocument(key, { text: String(version), expectedVersion: version })
            const result = await sendUntilDefinite(() => store.writeDocument(write))
            expect(result).toEqual({ type: 'written', version: version + 1 })
            versions.set(key, version + 1)
          }
        }
        await Promise.all(Array.from({ length: CALLERS }, call))
        expect(bites()).toBe(AMBIGUOUS_COMMITS)
        const stored = (await store.readDocuments(CATEGORY)).map(({ key, version }) => [key, version])
        expect(new Map(stored as [string, number][])).toEqual(versions)
      }),
    )

    it('A document is written on another connection when one is lost before its COMMIT', () =>
      withProxy(async ({ store, wire }) => {
        const faults = [wire.lose('request', isLock), wire.lose('answer', isLock)]
        expect(await store.writeDocument(aDocument('a'))).toEqual({ type: 'written', version: 1 })
        expect(faults.map((fault) => fault.bites())).toEqual([1, 1])
      }))

    it('Documents need their own right: without it transactions go on, and each document is refused for certain', async () => {
      const { url, name, ownerUrl } = await databases.migrated('no-right')
      await databases.sql(`REVOKE ALL ON counterstep_documents FROM ${name}`, ownerUrl)
      const store = await openPostgresStore({ url, multiplexed: server === 'pgbouncer' })
      expect(await store.create(aTransaction('a'))).toMatchObject({ type: 'created' })
      await expectUnavailable(store.writeDocument(aDocument('a')), 'no')
      await expectUnavailable(store.readDocuments(CATEGORY), 'no')
      expect(await store.readMany(['a' as never])).toHaveLength(1)
      await store.close()
    })

    it('Documents keep any text and key', async () => {
      const store = await openPostgresStore({
        url: (await databases.migrated('hostile')).url,
        multiplexed: server === 'pgbouncer',
      })
      const keys = [`'`, `\\`, `\\'`, `'' OR 1=1 -- `, '%_', '?', '`', `'); DROP TABLE x; -- `]
      for (const key of keys) await store.writeDocument(aDocument(key, { text: `${key}\u0000${key}` }))
      const documents = await store.readDocuments(CATEGORY)
      expect(new Map(documents.map(({ key, text }) => [key, text]))).toEqual(
        new Map(keys.map((key) => [key, `${key}\u0000${key}`])),
      )
      await store.close()
    })
  })
}
