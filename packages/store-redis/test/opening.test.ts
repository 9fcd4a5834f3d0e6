import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { Gid } from '@counterstep/protocol'
import { type RedisServer, startRedis, startRedisCluster } from '@counterstep/test-servers'
import { describeOn, describeOwn } from '@counterstep/test-servers/vitest'
import { expect, it } from 'vitest'
import { openRedisStore } from '../src/open-redis-store.ts'
import { expectUnavailable } from './expect-unavailable.ts'
import { documentedRights } from './least-user.ts'
import { openedForTests } from './open-stores.ts'
import { aTransaction, created, finished, makeUpdate, tokens } from './transactions.ts'

describeOwn('redis', 'opening', () => {
  const { open, connect } = openedForTests('as-given')

  async function withServer(
    settings: readonly string[],
    test: (server: RedisServer) => Promise<void>,
  ): Promise<void> {
    const server = await startRedis({ settings })
    try {
      await test(server)
    } finally {
      await server.stop()
    }
  }

  it('A single Redis that flushes before it answers is class A, without a failover', () =>
    withServer([], async ({ url }) => {
      const { store } = await open(url)
      expect([store.durabilityClass, store.failover, store.name]).toEqual(['A', 'none', 'redis'])
    }))

  it('A Redis that flushes each second is class B', () =>
    withServer(['--appendfsync', 'everysec'], async ({ url }) => {
      const { store } = await open(url, { durability: 'A' })
      expect(store.durabilityClass).toBe('B')
    }))

  const refused: Record<string, readonly string[]> = {
    'appendonly is no': ['--appendonly', 'no'],
    'appendfsync is no': ['--appendfsync', 'no'],
    'no-appendfsync-on-rewrite is yes': ['--no-appendfsync-on-rewrite', 'yes'],
    // This is refused also without a maxmemory, since one CONFIG SET can set it.
    'maxmemory-policy is allkeys-lru': ['--maxmemory-policy', 'allkeys-lru'],
    'maxmemory-policy is volatile-ttl': ['--maxmemory', '1gb', '--maxmemory-policy', 'volatile-ttl'],
  }
  for (const [reason, settings] of Object.entries(refused)) {
    it(`A Redis that may lose or evict is refused by name, unless forced: ${reason}`, () =>
      withServer(settings, async ({ url }) => {
        await expect(open(url)).rejects.toMatchObject({
          code: 'SAGA_STORE_NOT_DURABLE',
          message: expect.stringContaining(reason),
        })
        const { store } = await open(url, { acceptClassC: true })
        expect(store.durabilityClass).toBe('C')
        expect(await store.create(aTransaction('a'))).toMatchObject({ type: 'created' })
      }))
  }

  // Managed services hide CONFIG under another name.
  it('INFO is read where CONFIG is hidden', async () => {
    await withServer(['--rename-command', 'CONFIG', ''], async ({ url }) => {
      expect((await open(url)).store.durabilityClass).toBe('B')
      expect((await open(url, { durability: 'A' })).store.durabilityClass).toBe('A')
    })
    await withServer(['--rename-command', 'CONFIG', '', '--appendonly', 'no'], async ({ url }) => {
      await expect(open(url, { durability: 'A' })).rejects.toMatchObject({ code: 'SAGA_STORE_NOT_DURABLE' })
    })
  })

  it('A Redis is refused where nothing can be read, unless its class is declared or forced', () =>
    withServer(['--rename-command', 'CONFIG', '', '--rename-command', 'INFO', ''], async ({ url }) => {
      await expect(open(url)).rejects.toMatchObject({ code: 'SAGA_STORE_NOT_DURABLE' })
      expect((await open(url, { durability: 'B' })).store.durabilityClass).toBe('B')
      expect((await open(url, { acceptClassC: true })).store.durabilityClass).toBe('C')
    }))

  it('A Redis with a replica has a failover that may lose, unless an option says otherwise', () =>
    withServer([], async (master) => {
      await withServer(['--replicaof', `127.0.0.1 ${master.port}`], async (replica) => {
        const [connection] = await connect(master.url)
        while (!(await connection?.info('replication'))?.includes('connected_slaves:1'))
          await connection?.ping()
        expect((await open(master.url)).store.failover).toBe('lossy')
        expect((await open(master.url, { failover: 'lossless' })).store.failover).toBe('lossless')
        await expectUnavailable(open(replica.url), 'no')
      })
    }))

  it('A store is unavailable where no server answers', async () => {
    let gone = ''
    await withServer([], async ({ url }) => {
      gone = url
    })
    await expectUnavailable(open(gone, { connectTimeoutMs: 500 }), 'no')
    await expectUnavailable(open(gone.replace('redis:', 'redis-cluster:'), { connectTimeoutMs: 500 }), 'no')
  })

  it('A server that accepts and says nothing is waited for no longer than the command timeout', async () => {
    const sockets = new Set<Socket>()
    const silent = createServer((socket) => {
      sockets.add(socket)
      socket.on('error', () => socket.destroy())
    }).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const address = `127.0.0.1:${(silent.address() as AddressInfo).port}`
    try {
      for (const url of [`redis://${address}`, `redis://u:p@${address}/3`, `redis-cluster://:p@${address}`]) {
        const startAt = performance.now()
        const error = await open(url, { commandTimeoutMs: 300 }).catch((reason: unknown) => reason)
        expect(error).toMatchObject({
          applied: 'no',
          message: expect.stringMatching(/did not answer in time$/),
        })
        expect(performance.now() - startAt).toBeLessThan(1_300)
      }
    } finally {
      for (const socket of sockets) socket.destroy()
      silent.close()
    }
  })

  it('A Redis without cluster that is named as one is refused, and so is a key prefix that would move the hash tag', () =>
    withServer([], async ({ url }) => {
      await expect(open(url.replace('redis:', 'redis-cluster:'))).rejects.toMatchObject({
        code: 'SAGA_STORE_UNSUPPORTED',
      })
      for (const keyPrefix of ['{a}', 'a b', '']) {
        await expect(openRedisStore({ url, keyPrefix })).rejects.toMatchObject({
          code: 'SAGA_STORE_UNSUPPORTED',
        })
      }
    }))

  it('Stores are separated by prefix and by database', () =>
    withServer([], async ({ url }) => {
      const stores = [
        await open(url, { keyPrefix: 'a' }),
        await open(url, { keyPrefix: 'b' }),
        await open(`${url}/1`, { keyPrefix: 'a' }),
      ]
      for (const { store } of stores)
        expect(await store.create(aTransaction('x'))).toMatchObject({ type: 'created' })
    }))

  it('A user and a password are accepted, and an error says when they are wrong but never shows them', () =>
    withServer([], async ({ url, port }) => {
      const [first] = await connect(url)
      await first?.config('SET', 'requirepass', 'hunter2-right')
      const secrets = { missing: url, wrong: `redis://:hunter2-wrong@127.0.0.1:${port}` }
      for (const secret of Object.values(secrets)) {
        const error: unknown = await open(secret).catch((reason: unknown) => reason)
        expect(error).toMatchObject({
          code: 'SAGA_STORE_UNAVAILABLE',
          applied: 'no',
          isLoginRefused: true,
          message: expect.stringContaining('the server refused the login'),
        })
        expect(visible(error)).toMatch(/WRONGPASS|NOAUTH/)
        expect(visible(error)).not.toContain('hunter2')
      }
      const { store, events } = await open(`redis://default:hunter2-right@127.0.0.1:${port}`)
      const transaction = aTransaction('a', { definition: 'canary-payload' })
      await created(store, transaction)
      const [admin] = await connect(`redis://default:hunter2-right@127.0.0.1:${port}`)
      await admin?.config('SET', 'maxmemory', '1')
      const full: unknown = await store
        .create({ ...transaction, gid: 'b' as never })
        .catch((reason: unknown) => reason)
      expect(visible(full)).toContain('OOM')
      expect(visible([full, events])).not.toMatch(/hunter2|canary/)
    }))

  it('S24: A store works as the documented user, and reaches no key of another prefix', () =>
    withServer([], async ({ url, port }) => {
      const [admin] = await connect(url)
      const rights = documentedRights().map((word) =>
        word.replace('>...', '>secret').replace('~counterstep:', '~mine:'),
      )
      await admin?.call('ACL', 'SETUSER', 'app', ...rights)
      const { store } = await open(`redis://app:secret@127.0.0.1:${port}`, {
        keyPrefix: 'mine',
        durability: 'A',
      })
      const row = await created(store, { ...aTransaction('a'), hold: { type: 'waiting', dueInMs: 0 } })
      await finished(store, 'b', 60_000)
      expect(await store.update(makeUpdate(row, { type: 'release', dueAt: 1 }))).toMatchObject({
        type: 'saved',
      })
      const due = await store.claimDue({ limit: 1, leaseMs: 1_000, tokens: tokens(1), formatMax: 1 })
      expect(due.claimed).toHaveLength(1)
      expect(await store.readMany(['a' as Gid, 'b' as Gid])).toHaveLength(2)
      expect((await store.renew(due.claimed, 1_000)).renewed).toHaveLength(1)
      expect((await store.list({ limit: 5 })).items).toHaveLength(2)
      expect((await store.stats()).unfinished.submitted).toBe(1)
      expect(await store.purgeFinished(5)).toEqual({ purged: 0 })
      const other = open(`redis://app:secret@127.0.0.1:${port}`, { keyPrefix: 'other' })
      await expect(other).rejects.toMatchObject({ code: 'SAGA_STORE_UNSUPPORTED' })
      // A failed look at due rows is an error, and does not mean that no row is due.
      await created(store, { ...aTransaction('c'), hold: { type: 'waiting', dueInMs: 0 } })
      await admin?.call('ACL', 'SETUSER', 'app', '-strlen')
      const claim = store.claimDue({ limit: 1, leaseMs: 1_000, tokens: tokens(1), formatMax: 1 })
      await expect(claim).rejects.toMatchObject({ code: 'SAGA_INTERNAL' })
    }))

  it('S24: A user who may not write is refused, and the error says so', () =>
    withServer([], async ({ url, port }) => {
      const [admin] = await connect(url)
      const rights = '~mine:* -@all +evalsha +eval +get +time +info +config|get'
      await admin?.call('ACL', 'SETUSER', 'reader', 'on', '>secret', ...rights.split(' '))
      const reader = open(`redis://reader:secret@127.0.0.1:${port}`, { keyPrefix: 'mine' })
      await expect(reader).rejects.toMatchObject({ code: 'SAGA_STORE_UNSUPPORTED' })
      await expect(reader).rejects.toThrow('may not write keys')
      await admin?.call('ACL', 'SETUSER', 'reader', '+set')
      await expect(open(`redis://reader:secret@127.0.0.1:${port}`, { keyPrefix: 'mine' })).rejects.toThrow(
        'lacks a command',
      )
      await admin?.call('ACL', 'SETUSER', 'reader', '+exists')
      await open(`redis://reader:secret@127.0.0.1:${port}`, { keyPrefix: 'mine' })
    }))
})

describeOn('redis-cluster', 'opening', (url) => {
  const { open } = openedForTests('as-given')

  it('The class of all masters is found from any one of them', async () => {
    const [scheme, nodes = ''] = url.split('://')
    for (const node of nodes.split(',')) {
      const { store } = await open(`${scheme}://${node}`)
      expect([store.durabilityClass, store.failover]).toEqual(['A', 'lossy'])
    }
  })

  it('A node of a cluster that is named as a single Redis is refused', async () => {
    const [node] = (url.split('://')[1] ?? '').split(',')
    await expect(open(`redis://${node}`)).rejects.toMatchObject({ code: 'SAGA_STORE_UNSUPPORTED' })
  })
})

describeOwn('redis-cluster', 'opening', () => {
  const { open, connect } = openedForTests('as-given')

  it('A cluster is refused when one master may lose writes, and the error names that master', async () => {
    const cluster = await startRedisCluster()
    try {
      const connections = await connect(cluster.url)
      await connections[2]?.config('SET', 'appendfsync', 'no')
      await expect(open(cluster.url)).rejects.toMatchObject({
        code: 'SAGA_STORE_NOT_DURABLE',
        message: expect.stringContaining(`${cluster.nodes[2]?.port} may lose`),
      })
    } finally {
      await cluster.stop()
    }
  })
})

/** Collects all that a logger could print of an error. */
function visible(value: unknown): string {
  const seen: unknown[] = []
  const walk = (part: unknown): void => {
    if (typeof part !== 'object' || part === null || seen.includes(part)) return
    seen.push(part)
    for (const key of Object.getOwnPropertyNames(part)) walk((part as Record<string, unknown>)[key])
  }
  walk(value)
  return seen
    .flatMap((part) =>
      Object.getOwnPropertyNames(part).map((key) => String((part as Record<string, unknown>)[key])),
    )
    .join('\n')
}
