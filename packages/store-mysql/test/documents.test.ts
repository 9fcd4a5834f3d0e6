import { type DocumentWrite, StoreUnavailableError } from '@counterstep/core'
import { toSessionTimeouts } from '@counterstep/store-sql'
import { startTcpProxy, type TcpProxy } from '@counterstep/test-servers'
import { describeOn } from '@counterstep/test-servers/vitest'
import { expect, it } from 'vitest'
import { MIGRATIONS } from '../src/generated/sql.ts'
import type { MysqlStore } from '../src/mysql-store.ts'
import { migrateMysql, openMysqlStore } from '../src/open-mysql-store.ts'
import { ensureSchema } from '../src/schema/schema.ts'
import { toConnectionTarget } from '../src/sessions/connection-target.ts'
import { openSession } from '../src/sessions/open-session.ts'
import { expectUnavailable } from './expect-unavailable.ts'
import { testDatabases } from './test-database.ts'
import { aTransaction, drawToken } from './transactions.ts'

const CATEGORY = 'topics'
const AMBIGUOUS_COMMITS = 100
const CALLERS = 4
const OLD = MIGRATIONS.slice(0, 1)

const isCommit = (chunk: Buffer) => chunk.subarray(-'COMMIT'.length).toString() === 'COMMIT'
const isLock = (chunk: Buffer) => chunk.includes('INSERT INTO counterstep_documents')

function aDocument(key: string, change: Partial<DocumentWrite> = {}): DocumentWrite {
  return { category: CATEGORY, key, text: 'text', expectedVersion: 0, writeId: drawToken(), ...change }
}

for (const server of ['mariadb', 'mysql'] as const) {
  describeOn(server, 'documents', (serverUrl) => {
    const databases = testDatabases(serverUrl)
    let places = 0

    async function withProxy(test: (store: MysqlStore, proxy: TcpProxy) => Promise<void>) {
      places += 1
      const { url } = await databases.migrated(`documents-${places}`)
      const { hostname, port } = new URL(url)
      const proxy = await startTcpProxy({ host: hostname, port: Number(port) })
      const store = await openMysqlStore({ url: proxy.through(url) })
      try {
        await test(store, proxy)
      } finally {
        await store.close()
        await proxy.close()
      }
    }

    const losses = {
      'the COMMIT was lost': (proxy: TcpProxy) => proxy.cutBefore(isCommit),
      'its answer was lost': (proxy: TcpProxy) => proxy.dropAnswerWhen(isCommit),
    }
    for (const [name, lose] of Object.entries(losses)) {
      it(`A document is unknown when ${name}, and lands once when it is sent again`, () =>
        withProxy(async (store, proxy) => {
          const writes = [aDocument('a'), aDocument('a', { text: 'new', expectedVersion: 1 })]
          for (const [i, write] of writes.entries()) {
            const fault = lose(proxy)
            await expectUnavailable(store.writeDocument(write), 'unknown')
            expect(fault.bites()).toBe(1)
            expect(await store.writeDocument(write)).toEqual({ type: 'written', version: i + 1 })
          }
          expect(await store.readDocuments(CATEGORY)).toMatchObject([{ key: 'a', text: 'new', version: 2 }])
          const removal = { category: CATEGORY, key: 'a', expectedVersion: 2 }
          const fault = lose(proxy)
          await expectUnavailable(store.removeDocument(removal), 'unknown')
          expect(fault.bites()).toBe(1)
          expect((await store.removeDocument(removal)).type).toMatch(/^(removed|absent)$/)
          expect(await store.readDocuments(CATEGORY)).toEqual([])
        }))
    }

    it('Documents are neither lost nor doubled over many lost commits', { timeout: 120_000 }, () =>
      withProxy(async (store, proxy) => {
        let commits = 0
        const everyThird = (rest: number) => (chunk: Buffer) => isCommit(chunk) && commits++ % 3 === rest
        const faults = [
          proxy.cutBefore(everyThird(0), AMBIGUOUS_COMMITS / 2),
          proxy.dropAnswerWhen(everyThird(1), AMBIGUOUS_COMMITS / 2),
        ]
        const bites = () => faults.reduce((sum, fault) => sum + fault.bites(), 0)
        const versions = new Map<string, number>()
        const call = async (_: unknown, caller: number) => {
          const key = `k-${caller}`
          for (let version = 0; bites() < AMBIGUOUS_COMMITS; version++) {
            const write = aDocument(key, { text: String(version), expectedVersion: version })
            const result = await untilDefinite(() => store.writeDocument(write))
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
      withProxy(async (store, proxy) => {
        const faults = [proxy.cutBefore(isLock), proxy.dropAnswerWhen(isLock)]
        expect(await store.writeDocument(aDocument('a'))).toEqual({ type: 'written', version: 1 })
        expect(faults.map((fault) => fault.bites())).toEqual([1, 1])
      }))

    it('Documents need their own right: without it transactions go on, and each document is refused for certain', async () => {
      const { url, name } = await databases.migrated('no-right')
      const { username } = new URL(url)
      for (const host of ['%', 'localhost'])
        await databases.sql(`REVOKE ALL ON ${name}.counterstep_documents FROM '${username}'@'${host}'`)
      const store = await openMysqlStore({ url })
      expect(await store.create(aTransaction('a'))).toMatchObject({ type: 'created' })
      await expectUnavailable(store.writeDocument(aDocument('a')), 'no')
      await expectUnavailable(store.readDocuments(CATEGORY), 'no')
      expect(await store.readMany(['a' as never])).toHaveLength(1)
      await store.close()
    })

    it('The migration that adds documents lets code of schema 1 go on', async () => {
      const { rootUrl } = await databases.empty('schema-1')
      const target = toConnectionTarget(rootUrl, undefined, 2_000)
      const { session } = await openSession(target, { ...toSessionTimeouts({}), autocommit: true })
      expect(await ensureSchema(session, OLD)).toEqual({ from: 0, to: 1 })
      expect(await migrateMysql({ url: rootUrl })).toEqual({ from: 1, to: 4 })
      expect(await ensureSchema(session, OLD)).toEqual({ from: 4, to: 4 })
      session.end()
      const store = await openMysqlStore({ url: rootUrl })
      expect(await store.writeDocument(aDocument('a'))).toEqual({ type: 'written', version: 1 })
      await store.close()
    })

    it('A table of documents on an engine without transactions is refused', async () => {
      const { url, name } = await databases.migrated('engine')
      await databases.sql(`ALTER TABLE ${name}.counterstep_documents ENGINE = MyISAM`)
      await expect(openMysqlStore({ url })).rejects.toMatchObject({ code: 'SAGA_STORE_UNSUPPORTED' })
    })

    it('Documents keep any text and key', async () => {
      const store = await openMysqlStore({ url: (await databases.migrated('hostile')).url })
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

async function untilDefinite<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call()
    } catch (error: unknown) {
      if (!(error instanceof StoreUnavailableError)) throw error
    }
  }
}
