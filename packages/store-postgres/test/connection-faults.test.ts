import { createServer } from 'node:net'
import { toSessionTimeouts } from '@counterstep/store-sql'
import { startTcpProxy } from '@counterstep/test-servers'
import { describeOn } from '@counterstep/test-servers/vitest'
import { expect, it } from 'vitest'
import type { PostgresOptions } from '../src/open-postgres-store.ts'
import { toConnectionTarget } from '../src/sessions/connection-target.ts'
import { openSession } from '../src/sessions/open-session.ts'
import { expectUnavailable } from './expect-unavailable.ts'
import { type ProxiedStore, withProxiedStore } from './proxied-store.ts'
import { lockRow } from './row-locks.ts'
import { testDatabases } from './test-database.ts'
import { asGid, aTransaction, makeGids, makeUpdate } from './transactions.ts'

const SETTINGS = { ...toSessionTimeouts({}), multiplexed: false }
const SOON = { connectTimeoutMs: 500, statementTimeoutMs: 3_000 }
/** A call waits for a connection and for its statement, in turn, at most so often. */
const BOUNDED_MS = 15_000

for (const server of ['postgres', 'postgres18'] as const) {
  describeOn(server, 'connections on a network that fails', (serverUrl) => {
    const databases = testDatabases(serverUrl)
    let places = 0

    async function withProxy(
      test: (proxied: ProxiedStore) => Promise<void>,
      options: Partial<PostgresOptions> = {},
    ) {
      places += 1
      await withProxiedStore((await databases.migrated(`connections-${places}`)).url, options, test)
    }

    it('The store goes on without an error after all idle connections were cut', () =>
      withProxy(async ({ store, proxy }) => {
        await store.create(aTransaction('a'))
        await store.stats()
        proxy.cut()
        const [created, rows] = await Promise.all([
          store.create(aTransaction('b')),
          store.readMany([asGid('a')]),
        ])
        expect(created.type).toBe('created')
        expect(rows).toHaveLength(1)
      }))

    it('The store is unavailable while the server does not answer, and comes back', () =>
      withProxy(async ({ store, proxy }) => {
        await store.create(aTransaction('a'))
        proxy.refuse()
        proxy.cut()
        // After this the store has also seen that the connection that writes was cut.
        await expectUnavailable(store.stats(), 'no')
        await expectUnavailable(store.create(aTransaction('b')), 'no')
        proxy.accept()
        expect(await store.create(aTransaction('b'))).toMatchObject({ type: 'created' })
      }))

    it('The store waits a bounded time in a black hole, for what is under way and for what waits', () =>
      withProxy(async ({ store, proxy }) => {
        await store.create(aTransaction('a'))
        await store.stats()
        proxy.blackHole()
        const startedAt = performance.now()
        const sent = aTransaction('b')
        const first = store.create(sent)
        await new Promise(setImmediate)
        const calls = makeGids(50).map((gid) => store.create(aTransaction(gid)))
        await Promise.all([
          expectUnavailable(first, 'unknown'),
          ...calls.map((call) => expectUnavailable(call, 'no')),
        ])
        await expectUnavailable(store.stats(), 'no')
        expect(performance.now() - startedAt).toBeLessThan(BOUNDED_MS)
        proxy.heal()
        expect(await store.create(sent)).toMatchObject({ type: 'created' })
        expect((await store.list({ limit: 100 })).items).toHaveLength(2)
      }, SOON))

    it('A network that comes back soon enough is not noticed, nor one that brings every byte by itself', () =>
      withProxy(async ({ store, proxy }) => {
        proxy.hold()
        const create = store.create(aTransaction('a'))
        await expect.poll(() => proxy.openConnections()).toBeGreaterThan(0)
        proxy.release()
        expect(await create).toMatchObject({ type: 'created' })
        proxy.slice(7, 0)
        expect(await store.create(aTransaction('b', { definition: 'é💶'.repeat(50) }))).toMatchObject({
          type: 'created',
        })
        expect(await store.readMany([asGid('b')])).toMatchObject([{ definition: 'é💶'.repeat(50) }])
        expect(store.counters()).toEqual({ commits: 2, rows: 2, retries: 0 })
      }))

    it('A session is given up at once: the server is told, and takes back its locks', () =>
      withProxy(async ({ store, proxy, url }) => {
        const transaction = aTransaction('a')
        await store.create(transaction)
        const held = await startTcpProxy({ host: '127.0.0.1', port: proxy.port })
        const { session } = await openSession(toConnectionTarget(held.through(url), undefined), SETTINGS)
        await session.send({ sql: 'BEGIN' })
        await session.send({ sql: lockRow('a') })
        held.hold()
        await expect(session.all({ sql: 'SELECT 1' }, 200)).rejects.toMatchObject({ fault: 'timeout' })
        await expect.poll(() => held.openConnections(), { timeout: 5_000 }).toBe(0)
        expect(await store.update(makeUpdate(transaction))).toMatchObject({ type: 'saved' })
        await held.close()
      }))

    it('A session that is given up while it connects leaves no connection', () =>
      withProxy(async ({ proxy, url }) => {
        const held = await startTcpProxy({ host: '127.0.0.1', port: proxy.port })
        held.hold()
        const opening = openSession(toConnectionTarget(held.through(url), undefined), {
          ...SETTINGS,
          connectTimeoutMs: 200,
        })
        await expect(opening).rejects.toMatchObject({ name: 'SqlError' })
        // The network delivers the end of the connection, too.
        held.release()
        await expect.poll(() => held.openConnections(), { timeout: 5_000 }).toBe(0)
        await held.close()
      }))

    it('The store closes in a bounded time in a black hole', () =>
      withProxy(async ({ store, proxy }) => {
        await store.create(aTransaction('a'))
        proxy.blackHole()
        const create = store.create(aTransaction('b'))
        const startedAt = performance.now()
        await Promise.all([store.close(), expectUnavailable(create, 'unknown')])
        expect(performance.now() - startedAt).toBeLessThan(BOUNDED_MS)
      }, SOON))

    it('What is no PostgreSQL is told as unavailable', () =>
      withProxy(async ({ url }) => {
        const other = createServer((client) => client.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
        await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
        const address = other.address()
        const wrong = new URL(url)
        wrong.port = String(typeof address === 'object' ? address?.port : 0)
        const opening = openSession(toConnectionTarget(wrong.href, undefined), SETTINGS)
        await expect(opening).rejects.toMatchObject({ name: 'SqlError' })
        other.close()
      }))
  })
}
