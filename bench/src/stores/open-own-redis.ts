import { startRedis } from '@counterstep/test-servers'
import { Redis } from 'ioredis'
import type { Harness } from '../harness/harness.ts'
import type { Settings } from '../settings.ts'
import { redisHost } from './redis-host.ts'
import type { StoreHost } from './store-host.ts'

/** When an append to its file is flushed: once a second, or before each answer. */
export type AppendFsync = 'everysec' | 'always'

export interface OwnRedis {
  readonly host: StoreHost
  readonly url: string
  readonly link: Redis
}

/** A run that is given no Redis starts its own, and says how that is flushed. */
export function hasOwnRedis({ store }: Pick<Settings, 'store'>): boolean {
  const { TEST_REDIS_URL = '' } = process.env
  return store === 'redis' && TEST_REDIS_URL === ''
}

/** Starts a private server even if the environment names one: its settings and its memory are ours. */
export async function openOwnRedis(harness: Harness, appendFsync: AppendFsync): Promise<OwnRedis> {
  const server = await startRedis({ settings: ['--appendfsync', appendFsync] })
  const host = await redisHost({ url: server.url, pid: () => server.pid(), end: () => server.stop() })
  harness.atEnd(() => host.close())
  const link = new Redis(server.url)
  harness.atEnd(async () => void (await link.quit()))
  return { host, url: server.url, link }
}

/** All that it has taken from the system for data and for its keeping. */
export async function usedMemoryBytes(link: Redis): Promise<number> {
  const used = /^used_memory:(\d+)/m.exec(await link.info('memory'))?.[1]
  if (used === undefined) throw new Error('this Redis does not tell its memory')
  return Number(used)
}

/** Counts the keys of all of its databases. */
export async function keyCount(link: Redis): Promise<number> {
  let count = 0
  for (const [, keys] of (await link.info('keyspace')).matchAll(/keys=(\d+)/g)) count += Number(keys)
  return count
}
