import type { NewTransaction } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { type RedisServer, startRedis } from '@counterstep/test-servers'
import { describeOwn } from '@counterstep/test-servers/vitest'
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { SCRIPTS } from '../src/generated/scripts.ts'
import type { RedisStore } from '../src/redis-store.ts'
import { decodePostponeDue } from '../src/shards/decode-answers.ts'
import { postponeDueCall } from '../src/shards/encode-calls.ts'
import { expectUnavailable } from './expect-unavailable.ts'
import { openedForTests } from './open-stores.ts'
import { aTransaction, created, dueTransaction, read } from './transactions.ts'

const BY_MS = 60_000
const STRANGE_ROWS = 10_500
const BATCH_ROWS = 500

describeOwn('redis', 'a postponement of due rows', () => {
  const { open, openWithManyShards, connect } = openedForTests()
  let server: RedisServer
  beforeAll(async () => {
    server = await startRedis()
  })
  afterAll(() => server.stop())

  function postpone(store: RedisStore, limit = 500) {
    return store.postponeDue({ limit, byMs: BY_MS, formatMax: 1 })
  }

  async function connection(): Promise<Redis> {
    const [first] = await connect(server.url)
    if (first === undefined) throw new Error('no connection')
    return first
  }

  async function createdDue(store: RedisStore, gids: readonly string[]): Promise<void> {
    await Promise.all(gids.map((gid) => created(store, dueTransaction(gid))))
  }

  function makeGids(count: number): readonly string[] {
    return Array.from({ length: count }, (_, i) => `g-${i}`)
  }

  it('A postponement moves more rows than one script does', async () => {
    const { store } = await open(server.url)
    const gids = makeGids(230)
    await createdDue(store, gids)
    const result = await postpone(store)
    expect([...result.gids].sort()).toEqual([...gids].sort())
    expect(result.mayBeMore).toBeUndefined()
  })

  it('One script writes a bounded number of bytes of held rows, and leaves the others for the next', async () => {
    const { store, keysFor } = await open(server.url)
    const gids = makeGids(8)
    const held: Partial<NewTransaction> = {
      hold: { type: 'owned', leaseMs: 1 },
      progress: 'p'.repeat(300_000),
    }
    for (const gid of gids) await created(store, aTransaction(gid, held))
    const call = postponeDueCall(keysFor('g-0'), gids, { byMs: BY_MS, formatMax: 1 })
    const redis = await connection()
    const first = await redis.eval(SCRIPTS.postponeDue, call.keys.length, ...call.keys, ...call.args)
    // The row that goes beyond the mebibyte is still written.
    expect(decodePostponeDue(first).rows).toEqual([
      ...Array<'moved'>(4).fill('moved'),
      ...Array<'left'>(4).fill('left'),
    ])
    const { gids: rest, mayBeMore } = await postpone(store)
    expect([...rest].sort()).toEqual([...gids.slice(4)].sort())
    expect(mayBeMore).toBeUndefined()
    for (const gid of gids)
      expect(await read(store, gid)).toMatchObject({ owned: false, progress: held.progress })
  })

  it('A postponement that is sent again moves nothing a second time', async () => {
    const { store, keysFor } = await open(server.url)
    await created(store, dueTransaction('a'))
    const call = postponeDueCall(keysFor('a'), ['a'], { byMs: BY_MS, formatMax: 1 })
    const redis = await connection()
    const send = () => redis.eval(SCRIPTS.postponeDue, call.keys.length, ...call.keys, ...call.args)
    expect(decodePostponeDue(await send()).rows).toEqual(['moved'])
    const row = await read(store, 'a')
    expect(decodePostponeDue(await send()).rows).toEqual(['gone'])
    expect(await read(store, 'a')).toEqual(row)
  })

  it('A postponement that meets a key of another type leaves that row alone, and moves the others', async () => {
    const { store, keysFor } = await open(server.url)
    const gids = makeGids(5)
    await createdDue(store, gids)
    const redis = await connection()
    const [spoilt = '', ...others] = gids
    const key = keysFor(spoilt).row(spoilt)
    await redis.del(key)
    await redis.lpush(key, 'x')
    expect([...(await postpone(store)).gids].sort()).toEqual([...others].sort())
    expect((await postpone(store)).gids).toEqual([])
  })

  it('One shard that refuses does not keep a postponement from the others', async () => {
    const { store, keyPrefix, shards } = await openWithManyShards(server.url)
    const gids = makeGids(130)
    await createdDue(store, gids)
    const refusing = shards.toShard('g-0')
    const others = gids.filter((gid) => shards.toShard(gid) !== refusing)
    const redis = await connection()
    const writable = shards.all
      .filter((shard) => shard !== refusing)
      .map((shard) => `~${keyPrefix}:{p${shard}}:*`)
    await redis.acl('SETUSER', 'limited', 'on', '>secret', '+@all', `%R~${keyPrefix}:*`, ...writable)
    const { store: limited } = await open(server.url.replace('redis://', 'redis://limited:secret@'), {
      keyPrefix,
    })
    expect([...(await postpone(limited)).gids].sort()).toEqual([...others].sort())
    await expectUnavailable(postpone(limited), 'no')
    expect((await postpone(store)).gids).toHaveLength(gids.length - others.length)
  })

  it('Postponements find a row behind more rows of a newer version than one call looks at', async () => {
    const { store, keysFor } = await open(server.url)
    const [known = '', ...strange] = makeGids(STRANGE_ROWS + 1)
    const keys = keysFor(known)
    await created(store, dueTransaction(known))
    const redis = await connection()
    const text = String(await redis.get(keys.row(known))).replace(/^1 1 /, '1 2 ')
    for (let from = 0; from < strange.length; from += BATCH_ROWS) {
      const batch = strange.slice(from, from + BATCH_ROWS)
      await redis.mset(batch.flatMap((gid) => [keys.row(gid), text]))
      await redis.zadd(keys.due, ...batch.flatMap((gid) => [1, gid]))
    }
    const first = await postpone(store)
    expect(first).toMatchObject({ gids: [], mayBeMore: true })
    const second = await postpone(store)
    expect(second.gids).toEqual([known as Gid])
    expect(second.mayBeMore).toBeUndefined()
    // The next call begins anew, and finds rows at the front that have become known.
    await redis.set(keys.row(strange[7] ?? ''), text.replace(/^1 2 /, '1 1 '))
    expect((await postpone(store)).gids).toEqual([strange[7]])
  })
})
