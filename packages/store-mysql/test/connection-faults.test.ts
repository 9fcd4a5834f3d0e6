import { connect } from 'node:net'
import { StoreUnavailableError } from '@counterstep/core'
import { startTcpProxy, type TcpProxy } from '@counterstep/test-servers'
import { describeOn } from '@counterstep/test-servers/vitest'
import { expect, it } from 'vitest'
import { connectionTarget } from '../src/connection-target.ts'
import type { MysqlStore } from '../src/mysql-store.ts'
import { type MysqlOptions, openMysqlStore } from '../src/open-mysql-store.ts'
import { openSession } from '../src/open-session.ts'
import { sessionTimeouts } from '../src/session-timeouts.ts'
import { expectUnavailable } from './expect-unavailable.ts'
import { testDatabases } from './test-database.ts'
import { aTransaction, gidsOf, updateOf } from './transactions.ts'

const AMBIGUOUS_COMMITS = 200
const CALLERS = 8
const SETTINGS = { ...sessionTimeouts({}), autocommit: false }

const isCommit = (chunk: Buffer) => chunk.subarray(-'COMMIT'.length).toString() === 'COMMIT'
const isInsert = (chunk: Buffer) => chunk.includes('INSERT INTO counterstep_transactions')

for (const server of ['mariadb', 'mysql'] as const) {
  describeOn(server, 'a network that fails', (serverUrl) => {
    const databases = testDatabases(serverUrl)
    let places = 0

    async function withProxy(
      test: (store: MysqlStore, proxy: TcpProxy, url: string) => Promise<void>,
      options: Partial<MysqlOptions> = {},
    ) {
      places += 1
      const { url } = await databases.migrated(`network-${places}`)
      const { hostname, port } = new URL(url)
      const proxy = await startTcpProxy({ host: hostname, port: Number(port) })
      const store = await openMysqlStore({ url: proxy.through(url), ...options })
      try {
        await test(store, proxy, url)
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
      it(`says that the outcome is unknown when ${name}, and the same writes sent again land once`, () =>
        withProxy(async (store, proxy) => {
          const transactions = gidsOf(10).map((gid) => aTransaction(gid))
          const fault = lose(proxy)
          const creates = transactions.map((transaction) => store.create(transaction))
          await Promise.all(creates.map((create) => expectUnavailable(create, 'unknown')))
          expect(fault.bites()).toBe(1)
          const [row] = transactions
          if (row === undefined) throw new Error('no row')
          for (const transaction of transactions) {
            expect(await store.create(transaction)).toMatchObject({ type: 'created' })
          }
          const update = updateOf(row, { progress: 'new' })
          const again = lose(proxy)
          await expectUnavailable(store.update(update), 'unknown')
          expect(again.bites()).toBe(1)
          const saved = await store.update(update)
          const [stored] = await store.readMany([row.gid])
          expect(saved).toMatchObject({ type: 'saved', version: stored?.version })
          expect(stored).toMatchObject({ progress: 'new', writeId: update.writeId, epoch: 1 })
          expect((await store.list({ limit: 20 })).items).toHaveLength(10)
        }))
    }

    it(`loses and doubles nothing over ${AMBIGUOUS_COMMITS} lost commits`, { timeout: 120_000 }, () =>
      withProxy(async (store, proxy) => {
        let commits = 0
        const everyThird = (rest: number) => (chunk: Buffer) => isCommit(chunk) && commits++ % 3 === rest
        const faults = [
          proxy.cutBefore(everyThird(0), AMBIGUOUS_COMMITS / 2),
          proxy.dropAnswerWhen(everyThird(1), AMBIGUOUS_COMMITS / 2),
        ]
        const bites = () => faults.reduce((sum, fault) => sum + fault.bites(), 0)
        const versions = new Map<string, number>()
        let gids = 0
        const call = async () => {
          while (bites() < AMBIGUOUS_COMMITS) {
            gids += 1
            const transaction = aTransaction(`t-${gids}`)
            const created = await untilDefinite(() => store.create(transaction))
            expect(created.type).toBe('created')
            let version = 1
            for (const progress of ['1', '2']) {
              const update = updateOf(transaction, { version, progress })
              const saved = await untilDefinite(() => store.update(update))
              if (saved.type !== 'saved') throw new Error(`${transaction.gid}: ${saved.type}`)
              version = saved.version
            }
            versions.set(transaction.gid, version)
          }
        }
        await Promise.all(Array.from({ length: CALLERS }, call))
        expect(bites()).toBe(AMBIGUOUS_COMMITS)
        expect(versions.size).toBe(gids)
        for (const chunk of chunksOf([...versions.keys()])) {
          const rows = await store.readMany(chunk as never)
          expect(rows).toHaveLength(chunk.length)
          for (const row of rows) expect(row).toMatchObject({ version: versions.get(row.gid), progress: '2' })
        }
      }),
    )

    it('repeats on another connection what was lost before its COMMIT', () =>
      withProxy(async (store, proxy) => {
        const faults = [proxy.cutBefore(isInsert), proxy.dropAnswerWhen(isInsert)]
        expect(await store.create(aTransaction('a'))).toMatchObject({ type: 'created' })
        expect(faults.map((fault) => fault.bites())).toEqual([1, 1])
        expect(store.counters()).toEqual({ commits: 1, rows: 1, retries: 2 })
      }))

    it('says for certain that nothing was written when every connection is lost before its COMMIT', () =>
      withProxy(async (store, proxy) => {
        const fault = proxy.cutBefore(isInsert, 100)
        await expectUnavailable(store.create(aTransaction('a')), 'no')
        expect(fault.bites()).toBe(3)
        fault.cancel()
        expect(await store.create(aTransaction('b'))).toMatchObject({ type: 'created' })
        expect((await store.list({ limit: 20 })).items).toHaveLength(1)
      }))

    it('goes on without a word after all idle connections were cut', () =>
      withProxy(async (store, proxy) => {
        await store.create(aTransaction('a'))
        await store.stats()
        proxy.cut()
        const [created, rows] = await Promise.all([
          store.create(aTransaction('b')),
          store.readMany(['a' as never]),
        ])
        expect(created.type).toBe('created')
        expect(rows).toHaveLength(1)
      }))

    it('is unavailable while nobody answers, and comes back', () =>
      withProxy(async (store, proxy) => {
        await store.create(aTransaction('a'))
        proxy.refuse()
        proxy.cut()
        await expectUnavailable(store.create(aTransaction('b')), 'no')
        await expectUnavailable(store.stats(), 'no')
        proxy.accept()
        expect(await store.create(aTransaction('b'))).toMatchObject({ type: 'created' })
      }))

    it('waits a bounded time in a black hole, for what is under way and for what waits', () =>
      withProxy(
        async (store, proxy) => {
          await store.create(aTransaction('a'))
          await store.stats()
          proxy.blackHole()
          const startedAt = performance.now()
          const first = store.create(aTransaction('b'))
          await new Promise(setImmediate)
          const calls = [first, ...gidsOf(50).map((gid) => store.create(aTransaction(gid)))]
          await Promise.all(calls.map((call) => expectUnavailable(call, 'no')))
          await expectUnavailable(store.stats(), 'no')
          expect(performance.now() - startedAt).toBeLessThan(3_000)
          proxy.heal()
          expect(await store.create(aTransaction('b'))).toMatchObject({ type: 'created' })
          expect((await store.list({ limit: 100 })).items).toHaveLength(2)
        },
        { connectTimeoutMs: 500, statementTimeoutMs: 1_000 },
      ))

    it('gives up a session at once: the server is told, and takes back its locks', () =>
      withProxy(async (store, proxy, url) => {
        const transaction = aTransaction('a')
        await store.create(transaction)
        const held = await startTcpProxy({ host: '127.0.0.1', port: proxy.port })
        const { session } = await openSession(connectionTarget(held.through(url), undefined, 2_000), SETTINGS)
        await session.run('UPDATE counterstep_transactions SET attention = 1')
        held.hold()
        await expect(session.run("SELECT 'no answer'", 200)).rejects.toMatchObject({ fault: 'timeout' })
        await expect.poll(() => held.openConnections(), { timeout: 2_000 }).toBe(0)
        expect(await store.update(updateOf(transaction))).toMatchObject({ type: 'saved' })
        await held.close()
      }))

    it('keeps no socket open for a goodbye that nobody hears', () =>
      withProxy(async (_, proxy, url) => {
        const socket = connect(proxy.port, '127.0.0.1')
        const target = { ...connectionTarget(url, undefined, 2_000), stream: () => socket }
        const { session } = await openSession(target, SETTINGS)
        proxy.blackHole()
        session.end()
        await expect.poll(() => socket.destroyed, { timeout: 5_000 }).toBe(true)
        proxy.heal()
      }))

    it('closes in a bounded time in a black hole', () =>
      withProxy(
        async (store, proxy) => {
          await store.create(aTransaction('a'))
          proxy.blackHole()
          const create = store.create(aTransaction('b'))
          const startedAt = performance.now()
          await Promise.all([store.close(), expectUnavailable(create, 'no')])
          expect(performance.now() - startedAt).toBeLessThan(3_000)
        },
        { connectTimeoutMs: 500, statementTimeoutMs: 1_000 },
      ))
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

function chunksOf(gids: readonly string[], size = 500): readonly (readonly string[])[] {
  return Array.from({ length: Math.ceil(gids.length / size) }, (_, i) => gids.slice(i * size, (i + 1) * size))
}
