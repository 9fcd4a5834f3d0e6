import { connect } from 'node:net'
import { StoreUnavailableError } from '@counterstep/core'
import { toSessionTimeouts } from '@counterstep/store-sql'
import { startTcpProxy, type TcpProxy } from '@counterstep/test-servers'
import { describeOn } from '@counterstep/test-servers/vitest'
import { expect, it } from 'vitest'
import type { MysqlStore } from '../src/mysql-store.ts'
import { type MysqlOptions, openMysqlStore } from '../src/open-mysql-store.ts'
import { toConnectionTarget } from '../src/sessions/connection-target.ts'
import { openSession } from '../src/sessions/open-session.ts'
import { expectUnavailable } from './expect-unavailable.ts'
import { testDatabases } from './test-database.ts'
import { aTransaction, makeGids, makeUpdate } from './transactions.ts'

const AMBIGUOUS_COMMITS = 200
const CALLERS = 8
const SETTINGS = { ...toSessionTimeouts({}), autocommit: false }

/** The store tries two more connections after a lost one. */
const TRIES = 3

const hasCommit = (chunk: Buffer) => chunk.subarray(-'COMMIT'.length).toString() === 'COMMIT'
const isWrite = (chunk: Buffer) =>
  chunk.includes('INSERT INTO counterstep_transactions') || chunk.includes('UPDATE counterstep_transactions')
/** These find the commands of a flush in one packet, and of a flush that goes step by step. */
const isWholeFlush = (chunk: Buffer) => isWrite(chunk) && hasCommit(chunk)
const isStep = (chunk: Buffer) => isWrite(chunk) && !hasCommit(chunk)
const isCommit = (chunk: Buffer) => !isWrite(chunk) && hasCommit(chunk)

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

    /** This text is too long for one packet. */
    function long(gid: string) {
      return aTransaction(gid, { definition: 'x'.repeat(300 * 1024) })
    }

    it('A flush is sent as one packet, also of updates that are not alike, and a long one step by step', () =>
      withProxy(async (store, proxy) => {
        const rows = makeGids(80).map((gid) => aTransaction(gid))
        await Promise.all(rows.map((row) => store.create(row)))
        const sent: string[] = []
        proxy.cutBefore((chunk) => {
          sent.push(readKind(chunk))
          return false
        })
        const updates = rows.map((row, i) => store.update(makeUpdate(row, { attention: i % 2 === 0 })))
        const answers = await Promise.all([store.create(aTransaction('new')), ...updates])
        expect(answers.map(({ type }) => type)).toEqual(['created', ...rows.map(() => 'saved')])
        expect(sent.splice(0)).toEqual(['whole'])
        await store.create(long('a'))
        expect(sent.filter((kind) => kind !== 'other')).toEqual(['step', 'commit'])
      }))

    const losses = {
      'the flush was lost': (proxy: TcpProxy, matches: Matches, times: number) =>
        proxy.cutBefore(matches, times),
      'its answer was lost': (proxy: TcpProxy, matches: Matches, times: number) =>
        proxy.dropAnswerWhen(matches, times),
    }
    for (const [name, lose] of Object.entries(losses)) {
      it(`The outcome of a flush is unknown when ${name} on each connection, and the same writes sent again land once`, () =>
        withProxy(async (store, proxy) => {
          const transactions = makeGids(10).map((gid) => aTransaction(gid))
          const fault = lose(proxy, isWholeFlush, TRIES)
          const creates = transactions.map((transaction) => store.create(transaction))
          await Promise.all(creates.map((create) => expectUnavailable(create, 'unknown')))
          expect(fault.bites()).toBe(TRIES)
          const [row] = transactions
          if (row === undefined) throw new Error('no row')
          for (const transaction of transactions) {
            expect(await store.create(transaction)).toMatchObject({ type: 'created' })
          }
          const update = makeUpdate(row, { progress: 'new' })
          const again = lose(proxy, isWholeFlush, TRIES)
          await expectUnavailable(store.update(update), 'unknown')
          expect(again.bites()).toBe(TRIES)
          const saved = await store.update(update)
          const [stored] = await store.readMany([row.gid])
          expect(saved).toMatchObject({ type: 'saved', version: stored?.version })
          expect(stored).toMatchObject({ progress: 'new', writeId: update.writeId, epoch: 1 })
          expect((await store.list({ limit: 20 })).items).toHaveLength(10)
        }))

      it(`The outcome of a separate COMMIT is unknown at once when ${name}`, () =>
        withProxy(async (store, proxy) => {
          const row = long('a')
          const fault = lose(proxy, isCommit, 1)
          await expectUnavailable(store.create(row), 'unknown')
          expect(fault.bites()).toBe(1)
          const created = await store.create(row)
          const [stored] = await store.readMany([row.gid])
          expect(created).toMatchObject({ type: 'created', createdAt: stored?.createdAt })
          expect(stored).toMatchObject({ version: 1, epoch: 1, writeId: row.writeId })
        }))

      it(`A flush gets a certain answer, on another connection, when ${name} once`, () =>
        withProxy(async (store, proxy) => {
          const [kept, changed] = [aTransaction('a'), aTransaction('b')]
          await store.create(changed)
          const update = makeUpdate(changed, { progress: 'new' })
          const fault = lose(proxy, isWholeFlush, 1)
          const answers = await Promise.all([store.create(kept), store.update(update)])
          expect(fault.bites()).toBe(1)
          const stored = new Map((await store.readMany([kept.gid, changed.gid])).map((row) => [row.gid, row]))
          expect(answers).toMatchObject([
            { type: 'created', createdAt: stored.get(kept.gid)?.createdAt },
            { type: 'saved', version: stored.get(changed.gid)?.version },
          ])
          expect(store.counters()).toEqual({ commits: 2, rows: 3, retries: 1 })
        }))
    }

    it('A write is never certain to have failed after a try whose outcome is unknown', () =>
      withProxy(
        async (store, proxy, url) => {
          const row = aTransaction('a')
          await store.create(row)
          const { session } = await openSession(toConnectionTarget(url, undefined, 2_000), SETTINGS)
          await session.run('UPDATE counterstep_transactions SET attention = 1')
          const fault = proxy.cutBefore(isWholeFlush)
          await expectUnavailable(store.update(makeUpdate(row)), 'unknown')
          expect(fault.bites()).toBe(1)
          await session.run('ROLLBACK')
          session.end()
        },
        { lockWaitTimeoutMs: 1_000 },
      ))

    it(
      `The store loses and doubles nothing over ${AMBIGUOUS_COMMITS} lost commits`,
      { timeout: 120_000 },
      () =>
        withProxy(async (store, proxy) => {
          // Five of six in a row are lost, so that some flushes learn their outcome by themselves and some do not.
          let [sent, passed] = [0, 0]
          const isCut = (chunk: Buffer) => hasCommit(chunk) && sent++ % 2 === 0
          const isUnanswered = (chunk: Buffer) => hasCommit(chunk) && passed++ % 3 < 2
          const faults = [
            proxy.cutBefore(isCut, AMBIGUOUS_COMMITS / 2),
            proxy.dropAnswerWhen(isUnanswered, AMBIGUOUS_COMMITS / 2),
          ]
          const bites = () => faults.reduce((sum, fault) => sum + fault.bites(), 0)
          const versions = new Map<string, number>()
          let gids = 0
          let unknown = 0
          const untilDefinite = <T>(send: () => Promise<T>) => againUntilDefinite(send, () => unknown++)
          const call = async () => {
            while (bites() < AMBIGUOUS_COMMITS) {
              gids += 1
              const transaction = aTransaction(`t-${gids}`)
              const created = await untilDefinite(() => store.create(transaction))
              expect(created.type).toBe('created')
              let version = 1
              for (const progress of ['1', '2']) {
                const update = makeUpdate(transaction, { version, progress })
                const saved = await untilDefinite(() => store.update(update))
                if (saved.type !== 'saved') throw new Error(`${transaction.gid}: ${saved.type}`)
                version = saved.version
              }
              versions.set(transaction.gid, version)
            }
          }
          await Promise.all(Array.from({ length: CALLERS }, call))
          expect(bites()).toBe(AMBIGUOUS_COMMITS)
          expect(unknown).toBeGreaterThan(0)
          expect(versions.size).toBe(gids)
          for (const chunk of toChunks([...versions.keys()])) {
            const rows = await store.readMany(chunk as never)
            expect(rows).toHaveLength(chunk.length)
            for (const row of rows)
              expect(row).toMatchObject({ version: versions.get(row.gid), progress: '2' })
          }
        }),
    )

    it('A write that was lost before its COMMIT is repeated on another connection', () =>
      withProxy(async (store, proxy) => {
        const faults = [proxy.cutBefore(isStep), proxy.dropAnswerWhen(isStep)]
        expect(await store.create(long('a'))).toMatchObject({ type: 'created' })
        expect(faults.map((fault) => fault.bites())).toEqual([1, 1])
        expect(store.counters()).toEqual({ commits: 1, rows: 1, retries: 2 })
      }))

    it('A write has certainly failed when every connection is lost before its COMMIT', () =>
      withProxy(async (store, proxy) => {
        const row = long('a')
        const fault = proxy.cutBefore(isStep, 100)
        await expectUnavailable(store.create(row), 'no')
        expect(fault.bites()).toBe(TRIES)
        fault.cancel()
        expect(await store.readMany([row.gid])).toEqual([])
        expect(await store.create(row)).toMatchObject({ type: 'created' })
      }))

    it('The store goes on without an error after all idle connections were cut', () =>
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

    it('The store is unavailable while the server does not answer, and comes back', () =>
      withProxy(async (store, proxy) => {
        await store.create(aTransaction('a'))
        proxy.refuse()
        proxy.cut()
        await expectUnavailable(store.create(aTransaction('b')), 'no')
        await expectUnavailable(store.stats(), 'no')
        proxy.accept()
        expect(await store.create(aTransaction('b'))).toMatchObject({ type: 'created' })
      }))

    it('The store waits a bounded time in a black hole, for what is under way and for what waits', () =>
      withProxy(
        async (store, proxy) => {
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
          expect(performance.now() - startedAt).toBeLessThan(3_000)
          proxy.heal()
          expect(await store.create(sent)).toMatchObject({ type: 'created' })
          expect((await store.list({ limit: 100 })).items).toHaveLength(2)
        },
        { connectTimeoutMs: 500, statementTimeoutMs: 1_000 },
      ))

    it('A session is given up at once: the server is told, and takes back its locks', () =>
      withProxy(async (store, proxy, url) => {
        const transaction = aTransaction('a')
        await store.create(transaction)
        const held = await startTcpProxy({ host: '127.0.0.1', port: proxy.port })
        const { session } = await openSession(
          toConnectionTarget(held.through(url), undefined, 2_000),
          SETTINGS,
        )
        await session.run('UPDATE counterstep_transactions SET attention = 1')
        held.hold()
        await expect(session.run("SELECT 'no answer'", 200)).rejects.toMatchObject({ fault: 'timeout' })
        await expect.poll(() => held.openConnections(), { timeout: 2_000 }).toBe(0)
        expect(await store.update(makeUpdate(transaction))).toMatchObject({ type: 'saved' })
        await held.close()
      }))

    it('A socket does not stay open for a goodbye that is not heard', () =>
      withProxy(async (_, proxy, url) => {
        const socket = connect(proxy.port, '127.0.0.1')
        const target = { ...toConnectionTarget(url, undefined, 2_000), stream: () => socket }
        const { session } = await openSession(target, SETTINGS)
        proxy.blackHole()
        session.end()
        await expect.poll(() => socket.destroyed, { timeout: 5_000 }).toBe(true)
        proxy.heal()
      }))

    it('The store closes in a bounded time in a black hole', () =>
      withProxy(
        async (store, proxy) => {
          await store.create(aTransaction('a'))
          proxy.blackHole()
          const create = store.create(aTransaction('b'))
          const startedAt = performance.now()
          await Promise.all([store.close(), expectUnavailable(create, 'unknown')])
          expect(performance.now() - startedAt).toBeLessThan(3_000)
        },
        { connectTimeoutMs: 500, statementTimeoutMs: 1_000 },
      ))
  })
}

function readKind(chunk: Buffer): string {
  if (isWholeFlush(chunk)) return 'whole'
  if (isStep(chunk)) return 'step'
  return isCommit(chunk) ? 'commit' : 'other'
}

type Matches = (chunk: Buffer) => boolean

async function againUntilDefinite<T>(send: () => Promise<T>, onUnknown: () => void): Promise<T> {
  for (;;) {
    try {
      return await send()
    } catch (error: unknown) {
      if (!(error instanceof StoreUnavailableError)) throw error
      if (error.applied === 'unknown') onUnknown()
    }
  }
}

function toChunks(gids: readonly string[], size = 500): readonly (readonly string[])[] {
  return Array.from({ length: Math.ceil(gids.length / size) }, (_, i) => gids.slice(i * size, (i + 1) * size))
}
