import { PARKED_AT } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { type RedisServer, startRedis, startTcpProxy, type TcpProxy } from '@counterstep/test-servers'
import { describeOwn } from '@counterstep/test-servers/vitest'
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { SCRIPTS } from '../src/generated/scripts.ts'
import type { RedisStore } from '../src/redis-store.ts'
import { claimDueCall } from '../src/shards/encode-calls.ts'
import { expectUnavailable } from './expect-unavailable.ts'
import { openedForTests } from './open-stores.ts'
import { created, dueTransaction, read, tokens } from './transactions.ts'

const STRANGE_ROWS = 21_500
const BATCH_ROWS = 500

describeOwn('redis', 'a claim of due rows', () => {
  const { open, openWithManyShards, connect } = openedForTests()
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

  function claim(store: RedisStore, limit = 100) {
    return store.claimDue({ limit, leaseMs: 60_000, tokens: tokens(limit), formatMax: 1 })
  }

  async function connection(): Promise<Redis> {
    const [first] = await connect(server.url)
    if (first === undefined) throw new Error('no connection')
    return first
  }

  async function createdDue(store: RedisStore, count: number, format = 1): Promise<readonly string[]> {
    const gids = Array.from({ length: count }, (_, i) => `f${format}-${i}`)
    for (const gid of gids) await created(store, { ...dueTransaction(gid), format })
    return gids
  }

  it.each([
    // The claim reads the earliest due time of each shard, and a page of each shard with due rows.
    { shards: 1, looksMax: 2 },
    { shards: 64, looksMax: 64 + 10 },
  ])('A claim that found all rows does not look again: $shards shards', async ({ shards, looksMax }) => {
    const { store } = await (shards === 1 ? open : openWithManyShards)(proxy.through(server.url))
    await createdDue(store, 10)
    let looks = 0
    const counted = proxy.cutBefore((chunk) => {
      looks += chunk.toString('latin1').split('zrange').length - 1
      return false
    })
    expect((await claim(store, 10)).claimed).toHaveLength(10)
    expect(looks).toBeGreaterThan(0)
    expect(looks).toBeLessThanOrEqual(looksMax)
    counted.cancel()
  })

  it('A claim that fails later hands out what it has claimed before', async () => {
    const { store, keyPrefix } = await open(proxy.through(server.url))
    const { store: direct } = await open(server.url, { keyPrefix })
    // Rows that this version may not take need a second search.
    await createdDue(direct, 5, 2)
    await createdDue(direct, 10)
    let isClaimed = false
    const fault = proxy.cutBefore((chunk) => {
      const text = chunk.toString('latin1')
      const isLook = text.includes('zrange')
      isClaimed ||= text.includes(`${keyPrefix}:{p`) && text.includes(String(PARKED_AT))
      return isClaimed && isLook
    })
    const { claimed } = await claim(store, 10)
    expect(fault.bites()).toBe(1)
    expect(claimed.map((row) => row.format)).toEqual([1, 1, 1, 1, 1])
    // If nothing was claimed, the failure is reported.
    proxy.refuse()
    proxy.cut()
    await expectUnavailable(claim(store, 10), 'no')
    proxy.accept()
  })

  it('A claim that meets a key of another type leaves that row alone, and takes the others', async () => {
    const { store, keysFor } = await open(server.url)
    const gids = await createdDue(store, 130)
    const redis = await connection()
    const [, row = '', definition = ''] = gids
    for (const key of [keysFor(row).row(row), keysFor(definition).definition(definition)]) {
      await redis.del(key)
      await redis.lpush(key, 'x')
    }
    const claimed = [...(await claim(store)).claimed, ...(await claim(store)).claimed].map(({ gid }) => gid)
    expect(claimed.sort()).toEqual(gids.filter((gid) => gid !== row && gid !== definition).sort())
  })

  it('One shard that refuses does not keep a claim from the others', async () => {
    const { store, keyPrefix, shards } = await openWithManyShards(server.url)
    const gids = await createdDue(store, 130)
    // This is the shard of the oldest row. The first shard cannot refuse, since it takes the probe when a store opens.
    const refusing = shards.toShard(gids[0] ?? '')
    const others = gids.filter((gid) => shards.toShard(gid) !== refusing)
    const redis = await connection()
    const writable = shards.all
      .filter((shard) => shard !== refusing)
      .map((shard) => `~${keyPrefix}:{p${shard}}:*`)
    await redis.acl('SETUSER', 'limited', 'on', '>secret', '+@all', `%R~${keyPrefix}:*`, ...writable)
    const url = server.url.replace('redis://', 'redis://limited:secret@')
    const { store: limited } = await open(url, { keyPrefix })
    const first = await claim(limited)
    const second = await claim(limited)
    expect(first.claimed).toHaveLength(100)
    expect([...first.claimed, ...second.claimed].map((row) => row.gid).sort()).toEqual(others.sort())
    await expectUnavailable(claim(limited), 'no')
    expect((await claim(store)).claimed).toHaveLength(gids.length - others.length)
  })

  it('A claim that is sent again is the same claim', async () => {
    const { store, keysFor } = await open(server.url)
    await created(store, dueTransaction('a'))
    const [token = ''] = tokens(1)
    const redis = await connection()
    const lease = { gid: 'a' as Gid, token }
    const call = claimDueCall(keysFor('a'), [lease], { leaseMs: 10_000, formatMax: 1 })
    const send = () => redis.eval(SCRIPTS.claimDue, call.keys.length, ...call.keys, ...call.args)
    const [, , ...first] = (await send()) as readonly string[]
    const row = await read(store, 'a')
    expect(row).toMatchObject({ token, owned: true, claimsWithoutProgress: 1, epoch: 2 })
    const [, leaseEnd, ...again] = (await send()) as readonly string[]
    expect(again).toEqual(first)
    expect(await read(store, 'a')).toEqual({ ...row, dueAt: Number(leaseEnd) })
  })

  it('Claims find a row behind more rows of a newer version than one claim looks at', async () => {
    const { store, keysFor } = await open(server.url)
    // Rows with one due time come in the order of their gids.
    const gids = Array.from({ length: STRANGE_ROWS + 1 }, (_, i) => `g-${String(i).padStart(5, '0')}`)
    const [known = '', ...strange] = gids
    const keys = keysFor(known)
    await created(store, dueTransaction(known))
    const redis = await connection()
    const text = String(await redis.get(keys.row(known))).replace(/^1 1 /, '1 2 ')
    for (let from = 0; from < strange.length; from += BATCH_ROWS) {
      const batch = strange.slice(from, from + BATCH_ROWS)
      await redis.mset(batch.flatMap((gid) => [keys.row(gid), text]))
      await redis.zadd(keys.due, ...batch.flatMap((gid) => [1, gid]))
    }
    const claimed: string[] = []
    let calls = 0
    for (let isMore = true; isMore; calls++) {
      const result = await claim(store)
      isMore = result.mayBeMore ?? false
      claimed.push(...result.claimed.map((row) => row.gid))
    }
    expect(claimed).toEqual([known])
    expect(calls).toBeLessThan(5)
    // The next claim begins anew, and finds rows at the front that have become claimable.
    await redis.set(keys.row(strange[7] ?? ''), text.replace(/^1 2 /, '1 1 '))
    const { claimed: front } = await claim(store)
    expect(front.map((row) => row.gid)).toEqual([strange[7]])
  })
})
