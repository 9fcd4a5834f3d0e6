import { type RedisServer, startRedis } from '@counterstep/test-servers'
import { describeOwn } from '@counterstep/test-servers/vitest'
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { SCRIPTS } from '../src/generated/scripts.ts'
import { createRow, type ScriptCall, updateRow, writeRowsCall } from '../src/shards/encode-calls.ts'
import type { ShardKeys } from '../src/shards/shards.ts'
import { openedForTests } from './open-stores.ts'
import { aTransaction, created, dueTransaction, makeUpdate, read } from './transactions.ts'

describeOwn('redis', 'rows of one script', () => {
  const { open, connect } = openedForTests()
  let server: RedisServer
  beforeAll(async () => {
    server = await startRedis()
  })
  afterAll(() => server.stop())

  async function write(redis: Redis | undefined, keys: ShardKeys, rows: readonly ScriptCall[]) {
    const call = writeRowsCall(keys, rows)
    const answer = await redis?.eval(SCRIPTS.writeRows, call.keys.length, ...call.keys, ...call.args)
    return String(answer)
      .split('\n')
      .map((line) => line.split(' ', 1)[0])
  }

  it('Rows of one script change the indexes in their order, also where a gid comes more than once', async () => {
    const { store, keysFor } = await open(server.url)
    const [redis] = await connect(server.url)
    const keys = keysFor('a')
    const [finishedAtOnce, releasedAtOnce] = [aTransaction('a'), aTransaction('b')]
    const finish = { type: 'finish', retentionMs: 60_000 } as const
    const rows = [
      createRow(keys, finishedAtOnce),
      createRow(keys, releasedAtOnce),
      createRow(keys, aTransaction('c')),
      updateRow(keys, makeUpdate({ ...finishedAtOnce, version: 1 }, finish)),
      updateRow(keys, makeUpdate({ ...releasedAtOnce, version: 1 }, { type: 'release', dueAt: 17 })),
      createRow(keys, aTransaction('a')),
      updateRow(keys, makeUpdate({ ...aTransaction('none'), version: 1 })),
    ]
    expect(await write(redis, keys, rows)).toEqual([
      ...['created', 'created', 'created', 'saved', 'saved', 'exists', 'absent'],
    ])
    expect(await redis?.zscore(keys.due, 'b')).toBe('17')
    expect(await redis?.zrange(keys.due, '0', '-1')).toEqual(['b', 'c'])
    expect(await redis?.zrange(keys.done, '0', '-1')).toEqual(['a'])
    expect((await redis?.zrange(keys.created, '0', '-1'))?.sort()).toEqual(['a', 'b', 'c'])
    expect((await store.stats()).unfinished).toEqual({ prepared: 0, submitted: 2, aborting: 0 })
    expect(await read(store, 'a')).toMatchObject({ status: 'succeeded' })
  })

  it('Rows of one script take one command for each index, however many they are', async () => {
    const { keysFor } = await open(server.url)
    const [redis] = await connect(server.url)
    const keys = keysFor('a')
    // A row that waits is in one index more than one that is owned.
    for (const [make, indexes] of [
      [aTransaction, 2],
      [dueTransaction, 3],
    ] as const) {
      await redis?.config('RESETSTAT')
      const rows = Array.from({ length: 64 }, (_, i) => createRow(keys, make(`${indexes}-${i}`)))
      expect(new Set(await write(redis, keys, rows))).toEqual(new Set(['created']))
      const stats = (await redis?.info('commandstats')) ?? ''
      expect(stats).toContain(`cmdstat_zadd:calls=${indexes},`)
      expect(stats).toMatch(/cmdstat_zrem:calls=1,/)
      expect(stats).toMatch(/cmdstat_hincrby:calls=1,/)
    }
  })

  it('Rows of one script whose index cannot be written are all rejected', async () => {
    const { store, keysFor } = await open(server.url)
    const [redis] = await connect(server.url)
    const keys = keysFor('a')
    await redis?.lpush(keys.due, 'x')
    const gids = ['a', 'b', 'c']
    expect(
      await write(
        redis,
        keys,
        gids.map((gid) => createRow(keys, aTransaction(gid))),
      ),
    ).toEqual([...['error', 'error', 'error']])
    await expect(store.create(aTransaction('d'))).rejects.toMatchObject({ code: 'SAGA_INTERNAL' })
    await redis?.del(keys.due)
    expect(await store.create(aTransaction('e'))).toMatchObject({ type: 'created' })
  })

  it('Leases are renewed beside one whose key is of another type', async () => {
    const { store, keysFor } = await open(server.url)
    const [redis] = await connect(server.url)
    const gids = ['a', 'b', 'c']
    const leases = []
    for (const gid of gids) {
      const transaction = aTransaction(gid)
      await created(store, transaction)
      leases.push({ gid: transaction.gid, token: transaction.token })
    }
    await redis?.del(keysFor('b').row('b'))
    await redis?.lpush(keysFor('b').row('b'), 'x')
    const { renewed, lost } = await store.renew(leases, 60_000)
    expect([renewed.map(({ gid }) => gid), lost]).toEqual([['a', 'c'], ['b']])
  })
})
