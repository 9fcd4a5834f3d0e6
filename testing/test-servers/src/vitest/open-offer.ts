import type { Environment } from '../environment.ts'
import { ServerMissingError } from '../errors.ts'
import { findElasticmq, startElasticmq } from '../servers/elasticmq.ts'
import { findMariadb, startMariadb } from '../servers/mariadb.ts'
import { findMysql, startMysql } from '../servers/mysql.ts'
import { findPgbouncer, startPgbouncer } from '../servers/pgbouncer.ts'
import { findPostgres, startPostgres } from '../servers/postgres.ts'
import { findPostgres18, startPostgres18 } from '../servers/postgres18.ts'
import { findRedis, startRedis } from '../servers/redis.ts'
import { startRedisCluster } from '../servers/redis-cluster.ts'
import type { Missing, Offer, ServerKind } from './offers.ts'

export interface OpenOffer {
  readonly offer: Offer
  stop(): Promise<void>
}

interface Source {
  /** Throws ServerMissingError if no server of this kind can be started. */
  find(): Promise<unknown>
  start(): Promise<{ readonly url: string; stop(): Promise<void> }>
}

/** No test reads the performance schema, and it takes CPU time of each statement. MariaDB has it off by default. */
const SHARED_MYSQL = ['--performance-schema=OFF']

const SOURCES: Readonly<Record<ServerKind, Source>> = {
  mariadb: { find: () => findMariadb(), start: startMariadb },
  mysql: { find: findMysql, start: () => startMysql({ settings: SHARED_MYSQL }) },
  redis: { find: findRedisOnce, start: startRedis },
  postgres: { find: findPostgresOnce, start: startPostgres },
  postgres18: { find: findPostgres18, start: startPostgres18 },
  pgbouncer: { find: findPooled, start: startPgbouncer },
  elasticmq: { find: findElasticmq, start: startElasticmq },
  'redis-cluster': { find: findRedisOnce, start: startRedisCluster },
}

/** Lists the reasons for each kind that can be neither found nor installed. */
export async function missingServers(): Promise<readonly string[]> {
  const kinds = Object.values(SOURCES)
  const missing = await Promise.all(kinds.map(({ find }) => findMissing(find, false)))
  return [...new Set(missing.flatMap((each) => (each === undefined ? [] : [each.reason])))]
}

let redisFound: Promise<string> | undefined

/** Two kinds need Redis, and one attempt to install it is enough. */
function findRedisOnce(): Promise<string> {
  redisFound ??= findRedis()
  return redisFound
}

let postgresFound: ReturnType<typeof findPostgres> | undefined

/** Two kinds need the machine's PostgreSQL. */
function findPostgresOnce(): ReturnType<typeof findPostgres> {
  postgresFound ??= findPostgres()
  return postgresFound
}

/** Finds the pooler and the server behind it, one after the other, since each may have to be installed. */
async function findPooled(): Promise<void> {
  await findPostgresOnce()
  await findPgbouncer()
}

/** Finds out whether a test can start servers of this kind. */
export async function ownOffer(kind: ServerKind, { isCi }: Environment): Promise<Offer['own']> {
  return (await findMissing(SOURCES[kind].find, isCi)) ?? { type: 'available' }
}

/** Prepares one kind: its shared server, which is the given URL or a server of this run, and whether a test can start more. */
export async function openOffer(
  kind: ServerKind,
  url: string | undefined,
  environment: Environment,
): Promise<OpenOffer> {
  const own = await ownOffer(kind, environment)
  if (url !== undefined) return { offer: { shared: { type: 'available', url }, own }, stop: doNothing }
  if (own.type === 'missing') return { offer: { shared: own, own }, stop: doNothing }
  const server = await tryStart(SOURCES[kind].start)
  if (server instanceof Error) return { offer: { shared: toMissing(kind, server), own }, stop: doNothing }
  return { offer: { shared: { type: 'available', url: server.url }, own }, stop: () => server.stop() }
}

/** Returns the error if a server does not start, so that its own tests report it and the others run. */
async function tryStart<Server>(start: () => Promise<Server>): Promise<Server | Error> {
  try {
    return await start()
  } catch (error: unknown) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

function toMissing(kind: ServerKind, { message }: Error): Missing {
  return { type: 'missing', reason: `the ${kind} did not start: ${message}`, isError: true }
}

async function findMissing(find: () => Promise<unknown>, isCi: boolean): Promise<Missing | undefined> {
  try {
    await find()
    return undefined
  } catch (error: unknown) {
    if (!(error instanceof ServerMissingError)) throw error
    return { type: 'missing', reason: error.message, isError: isCi && !error.isExcused }
  }
}

/** A server that was there before the run must not be stopped. */
async function doNothing(): Promise<void> {
  return undefined
}
