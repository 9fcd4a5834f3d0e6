import { Redis } from 'ioredis'
import { readCpuSeconds } from '../harness/cpu-time.ts'
import { readTreePssBytes } from '../harness/memory.ts'
import { copyRedisRow } from './copy-redis-row.ts'
import type { StoreHost, StoreSoftware } from './store-host.ts'

export interface RedisPlace {
  /** The URL names no database. */
  readonly url: string
  /** The process id of the server, when it runs for this run alone. */
  readonly pid?: () => number
  readonly end: () => Promise<void>
}

const DURABILITY = ['appendonly', 'appendfsync', 'maxmemory-policy', 'no-appendfsync-on-rewrite'] as const

/** Numbered databases of one server that were empty before, emptied at the end. */
export async function redisHost({ url, pid, end }: RedisPlace): Promise<StoreHost> {
  const link = new Redis(url)
  const taken: number[] = []
  return {
    software: await readSoftware(link),
    voidsLeasesAtOpen: false,
    newDatabase: async () => {
      const number = await emptyDatabase(link, (taken.at(-1) ?? 0) + 1)
      taken.push(number)
      return {
        environment: { COUNTERSTEP_STORE: toDatabaseUrl(url, number) },
        copyFinished: async (copies, onCopied) => {
          await link.select(number)
          await copyRedisRow(link, copies, onCopied)
        },
      }
    },
    ...(pid === undefined
      ? {}
      : { cpuSeconds: () => readCpuSeconds(pid()), pssBytes: () => readTreePssBytes(pid()) }),
    close: async () => {
      try {
        for (const number of taken) {
          await link.select(number)
          await link.flushdb()
        }
        await link.quit()
      } finally {
        await end()
      }
    },
  }
}

async function emptyDatabase(link: Redis, from: number): Promise<number> {
  const [, count] = (await link.config('GET', 'databases')) as string[]
  for (let number = from; number < Number(count); number += 1) {
    await link.select(number)
    if ((await link.dbsize()) === 0) return number
  }
  throw new Error(`this Redis has no empty database left from ${from} on`)
}

async function readSoftware(link: Redis): Promise<StoreSoftware> {
  const info = await link.info('server')
  const line = (name: string) => new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1]
  const valkey = line('valkey_version')
  const settings: [string, string][] = []
  for (const name of DURABILITY) {
    const [, value] = (await link.config('GET', name)) as string[]
    if (value !== undefined) settings.push([name, value])
  }
  return {
    version: valkey === undefined ? `Redis ${line('redis_version')}` : `Valkey ${valkey}`,
    settings: Object.fromEntries(settings),
  }
}

function toDatabaseUrl(server: string, database: number): string {
  const url = new URL(server)
  url.pathname = `/${database}`
  return url.href
}
