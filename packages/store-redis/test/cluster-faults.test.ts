import { setTimeout as delay } from 'node:timers/promises'
import type { Gid } from '@counterstep/protocol'
import {
  freePort,
  type RedisCluster,
  type RedisServer,
  startRedis,
  startRedisCluster,
} from '@counterstep/test-servers'
import { describeOwn } from '@counterstep/test-servers/vitest'
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { RedisStore } from '../src/redis-store.ts'
import { MANY_SHARDS, toSlot } from '../src/shards/shards.ts'
import { eventually } from './eventually.ts'
import { expectUnavailable } from './expect-unavailable.ts'
import { asLeastUser } from './least-user.ts'
import { openedForTests } from './open-stores.ts'
import { aTransaction, created, hex, makeUpdate, saved, tokens } from './transactions.ts'

const SETTINGS = [
  ...['--cluster-node-timeout', '1000', '--cluster-require-full-coverage', 'no'],
  ...['--cluster-replica-validity-factor', '0', '--repl-diskless-sync-delay', '0'],
]
const COMMAND_TIMEOUT_MS = 500
const CALLERS = 16
const RETRY_MS = 5

describeOwn('redis-cluster', 'a cluster that changes', () => {
  const { open, connect } = openedForTests()
  let cluster: RedisCluster
  beforeAll(async () => {
    cluster = await startRedisCluster({ settings: SETTINGS })
  })
  afterAll(() => cluster.stop())

  /** Creates saga after saga from some callers until it is stopped. It collects the acknowledged gids and the errors. */
  function load(store: RedisStore) {
    const acknowledged: string[] = []
    const errors: unknown[] = []
    let isOver = false
    const callers = Array.from({ length: CALLERS }, async () => {
      while (!isOver) {
        const gid = hex(8)
        try {
          await store.create(aTransaction(gid))
          acknowledged.push(gid)
        } catch (error: unknown) {
          errors.push(error)
          await delay(RETRY_MS)
        }
      }
    })
    return {
      acknowledged,
      errors,
      end: async () => {
        isOver = true
        await Promise.all(callers)
      },
    }
  }

  async function missing(store: RedisStore, gids: readonly string[]): Promise<readonly string[]> {
    const found = new Set<string>()
    for (let from = 0; from < gids.length; from += 500) {
      for (const row of await store.readMany(gids.slice(from, from + 500) as Gid[])) found.add(row.gid)
    }
    return gids.filter((gid) => !found.has(gid))
  }

  async function readSlots(connection: Redis | undefined): Promise<string> {
    return String(await connection?.call('CLUSTER', 'MYID'))
  }

  it('While a slot moves under load, redirects are followed, nothing is lost and nothing is doubled', async () => {
    const { store, keyPrefix } = await open(cluster.url)
    const [first, second, third] = await connect(cluster.url)
    const shard = MANY_SHARDS.all.find((candidate) => toSlot(candidate) < 5_000) ?? 0
    const slot = toSlot(shard)
    const [from, to] = [await readSlots(first), await readSlots(second)]
    const before = Array.from({ length: 2_000 }, () => hex(8)).filter(
      (gid) => MANY_SHARDS.toShard(gid) === shard,
    )
    for (const gid of before) await created(store, aTransaction(gid))
    const running = load(store)
    await second?.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', from)
    await first?.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', to)
    for (;;) {
      const keys = (await first?.call('CLUSTER', 'GETKEYSINSLOT', slot, 100)) as string[]
      if (keys.length === 0) break
      await first?.call('MIGRATE', '127.0.0.1', cluster.nodes[1]?.port ?? 0, '', 0, 5_000, 'KEYS', ...keys)
    }
    // Until the owners know the move, the old owner redirects every client by ASK.
    expect(await store.readMany([before[0] as Gid])).toHaveLength(1)
    // A script with a key that does not exist can run on neither node during the move, so it must be tried again.
    await expectUnavailable(store.create(aTransaction(before[0] ?? '')), 'no')
    for (const node of [second, first, third]) await node?.call('CLUSTER', 'SETSLOT', slot, 'NODE', to)
    const count = running.acknowledged.length
    await eventually('work goes on', () => running.acknowledged.length > count + 200)
    await running.end()
    for (const error of running.errors)
      expect(error).toMatchObject({ code: 'SAGA_STORE_UNAVAILABLE', applied: 'no' })
    expect(await missing(store, [...before, ...running.acknowledged])).toEqual([])
    expect((await store.stats()).unfinished.submitted).toBe(before.length + running.acknowledged.length)
    expect(await second?.keys(`${keyPrefix}:{p${shard}}:*`)).not.toEqual([])
    expect(store.counters().losses).toBe(0)
  })

  it('When a node dies, the others go on, and its shards do when it is back', async () => {
    const { store } = await open(cluster.url, { commandTimeoutMs: COMMAND_TIMEOUT_MS })
    const running = load(store)
    await eventually('load is under way', () => running.acknowledged.length > 200)
    const victim = cluster.nodes[2] as RedisServer
    await victim.kill()
    const count = running.acknowledged.length
    await eventually('the others go on', () => running.acknowledged.length > count + 200)
    for (let i = 0; i < 40; i++) {
      await store
        .create({ ...aTransaction(hex(8)), hold: { type: 'waiting', dueInMs: 0 } })
        .catch(() => undefined)
    }
    const due = await store.claimDue({ limit: 5, leaseMs: 1_000, tokens: tokens(5), formatMax: 1 })
    expect(due.claimed).toHaveLength(5)
    expect((await store.renew(due.claimed, 1_000)).renewed).toHaveLength(5)
    expect(await store.purgeFinished(5)).toEqual({ purged: 0 })
    await victim.restart()
    await cluster.untilWhole()
    await untilWhole(store)
    await running.end()
    expect(running.errors.length).toBeGreaterThan(0)
    for (const error of running.errors) expect(error).toMatchObject({ code: 'SAGA_STORE_UNAVAILABLE' })
    expect(await missing(store, running.acknowledged)).toEqual([])
    expect(store.counters().losses).toBe(0)
  })

  async function startReplica(master: RedisServer): Promise<{ server: RedisServer; connection: Redis }> {
    const busPort = String(await freePort())
    const server = await startRedis({
      settings: ['--cluster-enabled', 'yes', '--cluster-port', busPort, ...SETTINGS],
    })
    const [connection] = await connect(server.url)
    const [masterConnection] = await connect(master.url)
    if (connection === undefined || masterConnection === undefined) throw new Error('no connection')
    const [, masterBus] = /@(\d+)/.exec(String(await masterConnection.call('CLUSTER', 'NODES'))) ?? []
    const myself = String(await masterConnection.call('CLUSTER', 'NODES'))
      .split('\n')
      .find((line) => line.includes('myself'))
    const bus = /@(\d+)/.exec(myself ?? '')?.[1] ?? masterBus ?? ''
    await connection.call('CLUSTER', 'MEET', '127.0.0.1', master.port, bus)
    const id = await readSlots(masterConnection)
    await eventually('it knows its master', () =>
      connection.call('CLUSTER', 'REPLICATE', id).then(
        () => true,
        () => false,
      ),
    )
    await eventually('it follows', async () =>
      (await connection.info('replication')).includes('master_link_status:up'),
    )
    for (const node of await connect(cluster.url)) {
      await eventually('each node knows whom it follows', async () =>
        String(await node.call('CLUSTER', 'NODES'))
          .split('\n')
          .some((line) => line.includes(`:${server.port}@`) && line.includes(`slave ${id}`)),
      )
    }
    return { server, connection }
  }

  /** A planned failover gives up after 5 s if votes or the last bytes come too late. It is then started again. */
  async function failOver(replica: Redis): Promise<void> {
    let askAgainAt = 0
    await eventually('the replica is master', async () => {
      if ((await replica.info('replication')).includes('role:master')) return true
      if (performance.now() < askAgainAt) return false
      askAgainAt = performance.now() + 5_500
      await replica.call('CLUSTER', 'FAILOVER')
      return false
    })
  }

  async function untilWhole(store: RedisStore): Promise<void> {
    await eventually('all shards answer', () =>
      store.stats().then(
        () => true,
        () => false,
      ),
    )
  }

  it('A planned failover under load loses nothing, and one to a lagging replica is reported', {
    timeout: 90_000,
  }, async () => {
    const master = cluster.nodes[0] as RedisServer
    const replica = await startReplica(master)
    try {
      const keyPrefix = `test-${hex(6)}`
      // Redis does not replicate users.
      await asLeastUser(replica.server.url, keyPrefix)
      const opened = await open(cluster.url, { commandTimeoutMs: COMMAND_TIMEOUT_MS, keyPrefix })
      const { store, events } = opened
      expect(store.failover).toBe('lossy')
      const running = load(store)
      await eventually('load is under way', () => running.acknowledged.length > 200)
      await failOver(replica.connection)
      const count = running.acknowledged.length
      await eventually('work goes on', () => running.acknowledged.length > count + 200)
      await untilWhole(store)
      await running.end()
      expect(await missing(store, running.acknowledged)).toEqual([])
      expect(store.counters().losses).toBe(0)

      // The former master is the replica now. It is stopped while writes go on, and then must take over.
      const [former] = await connect(master.url)
      await eventually('it follows', async () =>
        (await former?.info('replication'))?.includes('master_link_status:up'),
      )
      await master.pause()
      // Otherwise the system would keep for it the bytes that are sent from now on.
      await replica.connection.call('CLIENT', 'KILL', 'TYPE', 'replica')
      const late = Array.from({ length: 200 }, () => hex(8))
      for (const gid of late) await saved(store, makeUpdate(await created(store, aTransaction(gid))))
      await replica.server.kill()
      await master.resume()
      await untilWhole(store)
      await eventually('the loss is reported', () => events.some((event) => event.name === 'store-tail-lost'))
      expect((await missing(store, late)).length).toBeGreaterThan(0)
      expect(events.find((event) => event.name === 'store-tail-lost')?.detail).toContain(
        `127.0.0.1:${master.port}`,
      )
    } finally {
      await replica.server.stop()
    }
  })
})
