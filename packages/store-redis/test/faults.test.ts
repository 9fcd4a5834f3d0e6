import { mkdir, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { NewTransaction } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { type RedisServer, startRedis, startTcpProxy, type TcpProxy } from '@counterstep/test-servers'
import { describeOwn } from '@counterstep/test-servers/vitest'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { RedisStore } from '../src/redis-store.ts'
import { eventually } from './eventually.ts'
import { expectUnavailable } from './expect-unavailable.ts'
import { openedForTests } from './open-stores.ts'
import { aTransaction, created, finished, hex, makeUpdate, read, saved, tokens } from './transactions.ts'

const COMMAND_TIMEOUT_MS = 500
const CALLERS = 32

describeOwn('redis', 'a Redis that fails', () => {
  const { open, connect } = openedForTests()
  let server: RedisServer
  let proxy: TcpProxy
  beforeAll(async () => {
    server = await startRedis()
    proxy = await startTcpProxy({ host: '127.0.0.1', port: server.port })
  })
  afterAll(async () => {
    await proxy.close()
    await server.stop()
  })

  function untilBack(store: RedisStore): Promise<unknown> {
    return eventually('the store answers again', () =>
      store.stats().then(
        () => true,
        () => false,
      ),
    )
  }

  /** Acts like the engine: it sends the same write again until the answer is definite or the store refuses. */
  async function createUntilDefinite(
    store: RedisStore,
    transaction: NewTransaction,
  ): Promise<'created' | 'no'> {
    for (;;) {
      try {
        return (await store.create(transaction)).type === 'created' ? 'created' : 'no'
      } catch (error: unknown) {
        if (!(error instanceof Error && 'applied' in error)) throw error
        if (error.applied === 'no') return 'no'
      }
    }
  }

  it('A Redis that is killed under load loses nothing acknowledged and has nothing refused', async () => {
    const { store, events } = await open(server.url, { commandTimeoutMs: COMMAND_TIMEOUT_MS })
    const acknowledged = new Set<string>()
    const unknown = new Set<string>()
    const refused = new Set<string>()
    let isOver = false
    async function run(caller: number): Promise<void> {
      for (let i = 0; !isOver; i++) {
        const gid = `${caller}-${i}`
        try {
          await store.create(aTransaction(gid))
          acknowledged.add(gid)
        } catch (error: unknown) {
          expect(error).toMatchObject({ code: 'SAGA_STORE_UNAVAILABLE' })
          if ((error as { applied: string }).applied === 'no') refused.add(gid)
          else unknown.add(gid)
          await new Promise(setImmediate)
        }
      }
    }
    const callers = Array.from({ length: CALLERS }, (_, caller) => run(caller))
    for (let kill = 0; kill < 3; kill++) {
      const before = acknowledged.size
      await eventually('load is under way', () => acknowledged.size > before + CALLERS)
      await server.kill()
      await server.restart()
    }
    const before = acknowledged.size
    await eventually('work resumes', () => acknowledged.size > before + CALLERS)
    isOver = true
    await Promise.all(callers)
    expect(unknown.size).toBeGreaterThan(0)
    expect(refused.size).toBeGreaterThan(0)
    expect(await missing(store, [...acknowledged])).toEqual([])
    expect(await missing(store, [...refused])).toHaveLength(refused.size)
    expect(events.map((event) => event.name)).toContain('store-connection-lost')
    // Redis has synced each write before its answer, so nothing was lost and nothing is reported.
    expect(store.counters().losses).toBe(0)
  })

  async function missing(store: RedisStore, gids: readonly string[]): Promise<readonly string[]> {
    const found = new Set<string>()
    for (let from = 0; from < gids.length; from += 500) {
      for (const row of await store.readMany(gids.slice(from, from + 500) as Gid[])) found.add(row.gid)
    }
    return gids.filter((gid) => !found.has(gid))
  }

  it('A Redis that hangs is waited for no longer than the command timeout, and work resumes by itself', async () => {
    const { store } = await open(server.url, { commandTimeoutMs: COMMAND_TIMEOUT_MS })
    const row = await created(store, aTransaction(`hang-${hex(4)}`))
    await server.pause()
    try {
      const startAt = performance.now()
      const calls = [
        store.create(aTransaction(`hang-${hex(4)}`)),
        store.update(makeUpdate(row)),
        store.readMany([row.gid]),
        store.renew([row], 1_000),
        store.claimDue({ limit: 1, leaseMs: 1, tokens: tokens(1), formatMax: 1 }),
        store.list({ limit: 1 }),
        store.stats(),
      ]
      for (const call of calls) await expectUnavailable(call, 'unknown')
      expect(performance.now() - startAt).toBeLessThan(COMMAND_TIMEOUT_MS + 1_000)
      // Later calls do not wait behind a server that does not answer.
      await eventually('the connection is given up', async () => {
        const outcome = await store.create(aTransaction(`hang-${hex(4)}`)).catch((error) => error)
        return outcome.applied === 'no'
      })
    } finally {
      await server.resume()
    }
    await untilBack(store)
    expect(await store.update(makeUpdate(row))).toMatchObject({
      type: expect.stringMatching(/saved|conflict/),
    })
  })

  it('A write whose answer was lost is the same write when it is sent again, with one row', async () => {
    const { store } = await open(proxy.through(server.url), { commandTimeoutMs: COMMAND_TIMEOUT_MS })
    for (const command of ['create', 'update', 'finish'] as const) {
      const gid = `lost-${command}-${hex(4)}`
      const transaction = aTransaction(gid)
      const write =
        command === 'create'
          ? () => store.create(transaction)
          : await (async () => {
              const row = await created(store, transaction)
              const update = makeUpdate(
                row,
                command === 'finish'
                  ? { type: 'finish', retentionMs: 60_000 }
                  : { type: 'release', dueAt: 7 },
                { progress: 'once' },
              )
              return () => store.update(update)
            })()
      let sent = 0
      const counted = proxy.cutBefore((chunk) => {
        // It counts the key of the definition, because the watch for lost writes also reads the row after a new
        // connection.
        sent += chunk.toString('latin1').split(`:d:${gid}`).length - 1
        return false
      })
      const fault = proxy.dropAnswerWhen((chunk) => chunk.includes(gid))
      await expectUnavailable(write(), 'unknown')
      expect(fault.bites()).toBe(1)
      await untilBack(store)
      expect(sent).toBe(1)
      counted.cancel()
      const landed = await read(store, gid)
      expect(landed.version > 1).toBe(command !== 'create')
      const again = await write()
      expect(again.type).toBe(command === 'create' ? 'created' : 'saved')
      expect(await read(store, gid)).toEqual(landed)
    }
  })

  it('A command that was lost may be sent again, and then it lands', async () => {
    const { store } = await open(proxy.through(server.url), { commandTimeoutMs: COMMAND_TIMEOUT_MS })
    const gid = `cut-${hex(4)}`
    const fault = proxy.cutBefore((chunk) => chunk.includes(gid))
    // The store cannot tell this case from a lost answer.
    await expectUnavailable(store.create(aTransaction(gid)), 'unknown')
    expect(fault.bites()).toBe(1)
    await untilBack(store)
    expect(await store.readMany([gid as Gid])).toEqual([])
    expect(await createUntilDefinite(store, aTransaction(gid))).toBe('created')
  })

  it('A Redis that cannot be reached is reported at once, for certain, and the connection comes back by itself', async () => {
    const { store } = await open(proxy.through(server.url), { commandTimeoutMs: COMMAND_TIMEOUT_MS })
    proxy.refuse()
    try {
      proxy.cut()
      await eventually('the break is noticed', () => store.counters().breaks > 0)
      const startAt = performance.now()
      for (let i = 0; i < 100; i++) await expectUnavailable(store.create(aTransaction(`no-${i}`)), 'no')
      expect(performance.now() - startAt).toBeLessThan(COMMAND_TIMEOUT_MS)
    } finally {
      proxy.accept()
    }
    await untilBack(store)
    expect(await store.create(aTransaction(`back-${hex(4)}`))).toMatchObject({ type: 'created' })
  })

  it('A short silence of the network, below the timeout, changes nothing', async () => {
    const { store } = await open(proxy.through(server.url))
    proxy.hold()
    const creates = Array.from({ length: 20 }, (_, i) => store.create(aTransaction(`held-${hex(4)}-${i}`)))
    proxy.release()
    for (const create of creates) expect(await create).toMatchObject({ type: 'created' })
    expect(store.counters().breaks).toBe(0)
  })

  it('A full Redis refuses for certain, keeps what it has, lets rows be purged, and work resumes', async () => {
    const { store } = await open(server.url)
    const [connection] = await connect(server.url)
    const rows = await Promise.all(
      Array.from({ length: 50 }, (_, i) => created(store, aTransaction(`f-${hex(4)}-${i}`))),
    )
    for (let i = 0; i < 50; i++) await finished(store, `over-${hex(4)}-${i}`, 1)
    const before = await Promise.all(rows.map((row) => read(store, row.gid)))
    await connection?.config('SET', 'maxmemory', '1mb')
    try {
      await expectUnavailable(store.create(aTransaction('full')), 'no')
      for (const row of rows) await expectUnavailable(store.update(makeUpdate(row)), 'no')
      expect(await Promise.all(rows.map((row) => read(store, row.gid)))).toEqual(before)
      expect((await store.list({ limit: 1 })).items).toHaveLength(1)
      // A write that makes room must not need room.
      expect((await eventually('rows are purged', () => store.purgeFinished(1_000))).purged).toBeGreaterThan(
        0,
      )
    } finally {
      await connection?.config('SET', 'maxmemory', '0')
    }
    for (const row of rows) await saved(store, makeUpdate(row, { type: 'finish', retentionMs: 'never' }))
    expect(store.counters()).toEqual({ losses: 0, breaks: 0 })
  })

  it('A Redis that cannot write to its disk refuses for certain, and work resumes', async () => {
    const failing = await startRedis({ settings: ['--save', '3600 1', '--dbfilename', 'dump'] })
    try {
      const { store } = await open(failing.url)
      const row = await created(store, aTransaction('a'))
      const [connection] = await connect(failing.url)
      const [, folder = ''] = ((await connection?.config('GET', 'dir')) ?? []) as string[]
      // A folder stands in the place of the snapshot file.
      await mkdir(join(folder, 'dump'))
      await connection?.bgsave()
      await eventually('the snapshot has failed', async () =>
        (await connection?.info('persistence'))?.includes('rdb_last_bgsave_status:err'),
      )
      await expectUnavailable(store.update(makeUpdate(row)), 'no')
      expect(await read(store, 'a')).toMatchObject({ version: 1 })
      await rmdir(join(folder, 'dump'))
      await connection?.bgsave()
      await eventually('it writes again', () =>
        store.update(makeUpdate(row)).then(
          () => true,
          () => false,
        ),
      )
    } finally {
      await failing.stop()
    }
  })

  it('A replica refuses for certain, and the store connects again and works when it is the master again', async () => {
    const { store } = await open(server.url)
    const [connection] = await connect(server.url)
    const row = await created(store, aTransaction(`r-${hex(4)}`))
    // Its master does not exist, so it keeps its data and only refuses writes.
    await connection?.replicaof('127.0.0.1', '1')
    try {
      await expectUnavailable(store.update(makeUpdate(row)), 'no')
      await eventually('it has connected anew', () => store.counters().breaks > 0)
      await expectUnavailable(open(server.url), 'no')
    } finally {
      await connection?.replicaof('NO', 'ONE')
    }
    await untilBack(store)
    expect(
      await eventually('it writes', () => store.update(makeUpdate(row)).catch(() => undefined)),
    ).toMatchObject({
      type: 'saved',
    })
  })

  it('A Redis with too few replicas refuses for certain', async () => {
    const { store } = await open(server.url)
    const [connection] = await connect(server.url)
    await connection?.config('SET', 'min-replicas-to-write', '1')
    try {
      await expectUnavailable(store.create(aTransaction('replicas')), 'no')
    } finally {
      await connection?.config('SET', 'min-replicas-to-write', '0')
    }
    expect(await store.readMany(['replicas' as Gid])).toEqual([])
  })

  it('A Redis that is busy with a script refuses for certain', async () => {
    const { store } = await open(server.url)
    const [killer, blocker] = [...(await connect(server.url)), ...(await connect(server.url))]
    await killer?.config('SET', 'busy-reply-threshold', '50')
    const blocked = blocker?.eval('while true do end', 0).catch((error: Error) => error.message)
    await eventually('Redis is busy', () =>
      killer?.ping().then(
        () => false,
        () => true,
      ),
    )
    await expectUnavailable(store.create(aTransaction('busy')), 'no')
    await killer?.script('KILL')
    expect(await blocked).toContain('killed')
    expect(await store.create(aTransaction(`busy-${hex(4)}`))).toMatchObject({ type: 'created' })
  })

  it('A write is refused for certain when too many writes or bytes wait', async () => {
    const { store } = await open(server.url, { commandsInFlightMax: 10 })
    const creates = Array.from({ length: 12 }, (_, i) => store.create(aTransaction(`w-${hex(4)}-${i}`)))
    for (const create of creates.slice(10)) await expectUnavailable(create, 'no')
    await Promise.all(creates.slice(0, 10))
    const { store: narrow } = await open(server.url, { bytesInFlightMax: 30_000 })
    const large = () => narrow.create(aTransaction(`b-${hex(4)}`, { definition: 'x'.repeat(20_000) }))
    const [first, second] = [large(), large()]
    await expectUnavailable(second, 'no')
    expect(await first).toMatchObject({ type: 'created' })
    expect(await large()).toMatchObject({ type: 'created' })
  })

  it('A close settles what is in flight, and what hangs within the timeout', async () => {
    const { store } = await open(server.url, { commandTimeoutMs: COMMAND_TIMEOUT_MS })
    await store.create(aTransaction(`c-${hex(4)}`))
    const gids = Array.from({ length: 200 }, (_, i) => `c-${hex(4)}-${i}`)
    const creates = gids.map((gid) => store.create(aTransaction(gid)))
    const scan = store.list({ limit: 100 })
    await store.close()
    for (const create of creates) expect(await create).toMatchObject({ type: 'created' })
    expect((await scan).items.length).toBeGreaterThan(0)
    const { store: other } = await open(server.url, { commandTimeoutMs: COMMAND_TIMEOUT_MS })
    await server.pause()
    try {
      const hanging = expectUnavailable(other.create(aTransaction('hangs')), 'unknown')
      const startAt = performance.now()
      await other.close()
      expect(performance.now() - startAt).toBeLessThan(COMMAND_TIMEOUT_MS + 1_000)
      await hanging
    } finally {
      await server.resume()
    }
  })
})
