import { homedir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

export const STORES = ['sqlite', 'mysql', 'postgres', 'redis'] as const

export type StoreName = (typeof STORES)[number]

export interface Settings {
  /** An orchestrator that runs already, such as a real DTM: `http://127.0.0.1:36789/api/dtmsvr`. */
  readonly dtmUrl: string | undefined
  /** The gRPC API of that orchestrator: `127.0.0.1:36790`. */
  readonly dtmGrpc: string | undefined
  readonly mysqlUrl: string | undefined
  readonly redisUrl: string | undefined
  /** The stores that a server is started on. */
  readonly stores: readonly StoreName[]
  /** Names of programs to run; empty means all. */
  readonly programs: readonly string[]
  /** Holds what was built and downloaded. */
  readonly cacheFolder: string
}

/** The one reader of the environment and the arguments in this package. */
export function readSettings(args: readonly string[]): Settings {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { store: { type: 'string', multiple: true } },
  })
  const { DTM_URL, DTM_GRPC, TEST_MYSQL_URL, TEST_REDIS_URL, XDG_CACHE_HOME } = process.env
  return {
    dtmUrl: given(DTM_URL),
    dtmGrpc: given(DTM_GRPC),
    mysqlUrl: given(TEST_MYSQL_URL),
    redisUrl: given(TEST_REDIS_URL),
    stores: values.store?.map(readStore) ?? STORES,
    programs: positionals,
    cacheFolder: join(given(XDG_CACHE_HOME) ?? join(homedir(), '.cache'), 'counterstep', 'conformance'),
  }
}

function readStore(given: string): StoreName {
  const store = STORES.find((name) => name === given)
  if (store === undefined) throw new Error(`--store ${given}: there are ${STORES.join(', ')}`)
  return store
}

function given(value: string | undefined): string | undefined {
  return value === '' ? undefined : value
}
