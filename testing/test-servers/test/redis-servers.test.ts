import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  type RedisCluster,
  type RedisServer,
  ServerFailedError,
  startRedis,
  startRedisCluster,
} from '../src/index.ts'
import { redisAnswer } from '../src/proxy/redis-answer.ts'
import { tcpAnswer } from '../src/proxy/tcp-answer.ts'
import { describeOwn } from '../src/vitest/describe-on.ts'

/** In this time a running server would have answered. */
const SILENCE_MS = 300

function ask({ port }: RedisServer, ...words: readonly string[]): Promise<string> {
  return redisAnswer({ host: '127.0.0.1', port }, words)
}

/** Reads a setting. The answer is a pair of name and value. */
async function setting({ port }: RedisServer, name: string): Promise<string> {
  return await tcpAnswer({ host: '127.0.0.1', port }, `CONFIG GET ${name}\r\n`, (received) => {
    const lines = received.toString().split('\r\n')
    return lines[0] === '*2' && lines.length === 6 ? lines[4] : undefined
  })
}

describeOwn('redis', 'a server of its own', () => {
  let server: RedisServer
  beforeAll(async () => {
    server = await startRedis()
  })
  afterAll(() => server.stop())

  it('A Redis is durable and evicts nothing', async () => {
    expect(await setting(server, 'appendonly')).toBe('yes')
    expect(await setting(server, 'appendfsync')).toBe('always')
    expect(await setting(server, 'save')).toBe('')
    expect(await setting(server, 'maxmemory-policy')).toBe('noeviction')
    expect(await setting(server, 'bind')).toBe('127.0.0.1')
  })

  it('A Redis has its data after SIGKILL, on the same port', async () => {
    await ask(server, 'SET', 'note', '1')
    const before = server.pid()
    await server.kill()
    await expect(ask(server, 'PING')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    await server.restart()
    expect(server.pid()).not.toBe(before)
    expect(await ask(server, 'GET', 'note')).toBe('1')
  })

  it('A paused Redis answers nothing, and goes on where it was', async () => {
    await server.pause()
    let isAnswered = false
    const answer = ask(server, 'GET', 'note').then((note) => {
      isAnswered = true
      return note
    })
    await new Promise((resolve) => setTimeout(resolve, SILENCE_MS))
    expect(isAnswered).toBe(false)
    await server.resume()
    expect(await answer).toBe('1')
  })
})

describeOwn('redis', 'the start of a server', () => {
  it('Given settings override those that a Redis has by default', async () => {
    const server = await startRedis({ settings: ['--maxmemory-policy', 'allkeys-lru', '--appendonly', 'no'] })
    const values = [await setting(server, 'appendonly'), await setting(server, 'maxmemory-policy')]
    await server.stop()
    expect(values).toEqual(['no', 'allkeys-lru'])
  })

  it('The start of a Redis that dies fails with the end of its log', async () => {
    const starting = startRedis({ settings: ['--no-such-setting', '1'] })
    await expect(starting).rejects.toThrow(ServerFailedError)
    await expect(starting).rejects.toThrow('no-such-setting')
  })
})

describeOwn('redis-cluster', 'a cluster of its own', () => {
  const KEYS = Array.from({ length: 30 }, (_, index) => `key ${index}`)
  let cluster: RedisCluster
  beforeAll(async () => {
    cluster = await startRedisCluster()
  })
  afterAll(() => cluster.stop())

  it('A Redis Cluster spreads keys over three nodes', async () => {
    expect(cluster.nodes).toHaveLength(3)
    expect(cluster.url).toBe(
      `redis-cluster://${cluster.nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`,
    )
    const owners = new Set<number>()
    for (const key of KEYS) {
      const owner = await findOwner(cluster, key)
      expect(await ask(owner, 'SET', key, key)).toBe('OK')
      owners.add(owner.port)
    }
    expect(owners.size).toBe(3)
  })

  it('A Redis Cluster is whole again with all its data after the SIGKILL of a node', async () => {
    const [, second] = cluster.nodes
    await second?.kill()
    await second?.restart()
    await cluster.untilWhole()
    for (const key of KEYS) {
      expect(await ask(await findOwner(cluster, key), 'GET', key)).toBe(key)
    }
  })
})

/** Finds the node that serves the key. The other nodes redirect to it. */
async function findOwner({ nodes }: RedisCluster, key: string): Promise<RedisServer> {
  for (const node of nodes) {
    try {
      await ask(node, 'GET', key)
      return node
    } catch (error: unknown) {
      if (!String(error).includes('MOVED')) throw error
    }
  }
  throw new Error(`no node serves ${key}`)
}
