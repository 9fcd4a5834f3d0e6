import { randomUUID } from 'node:crypto'
import { AssertionError, type Store, type StoreEvent, StoreUnavailableError } from '@counterstep/core'
import { CounterstepError } from '@counterstep/protocol'
import { admitServers } from './links/admit-servers.ts'
import { isDenied, ServerRefusal, toStoreError } from './links/command-errors.ts'
import { InFlight } from './links/in-flight.ts'
import { parseRedisUrl, type RedisPlace } from './links/redis-url.ts'
import { readFacts, type ServerFacts } from './links/server-facts.ts'
import type { LinkSettings } from './links/server-link.ts'
import { Servers } from './links/servers.ts'
import { RedisStore } from './redis-store.ts'
import { readShards } from './shards/read-shards.ts'
import { ShardCalls } from './shards/shard-calls.ts'
import { MANY_SHARDS } from './shards/shards.ts'
import { StoreHealth } from './tail/store-health.ts'
import { probeWrites } from './writes/probe-writes.ts'
import { RowWrites } from './writes/row-writes.ts'

export interface RedisOptions {
  /**
   * The form is redis://[user:password@]host:port[/db], with rediss:// for TLS. A cluster has redis-cluster:// or
   * rediss-cluster:// and some of its nodes.
   */
  readonly url: string
  /**
   * `ca` is PEM and replaces the system's authorities. `serverName` is the name in the certificate, if it is not the
   * host's.
   */
  readonly tls?: { readonly ca?: string; readonly serverName?: string }
  /** It begins every key, and tells several stores in one Redis apart. It has no braces. */
  readonly keyPrefix?: string
  /** Opens also a Redis that may lose or evict acknowledged sagas, or that hides whether it does. */
  readonly acceptClassC?: boolean
  /** This is the class of a managed service that hides its settings. A setting that can be read counts more. */
  readonly durability?: 'A' | 'B'
  /** The default is `none` for one server without a replica, and `lossy` otherwise, since replicas lag. */
  readonly failover?: Store['failover']
  readonly commandTimeoutMs?: number
  readonly connectTimeoutMs?: number
  readonly commandsInFlightMax?: number
  readonly bytesInFlightMax?: number
  readonly onEvent?: (event: StoreEvent) => void
}

const MEBIBYTE = 1024 * 1024
const KEY_PREFIX = /^[A-Za-z0-9:._-]{1,64}$/

/** Throws if no Redis answers, or if one of them cannot be trusted. */
export async function openRedisStore({
  url,
  tls,
  keyPrefix = 'counterstep',
  acceptClassC = false,
  durability,
  failover,
  commandTimeoutMs = 3_000,
  connectTimeoutMs = 2_000,
  commandsInFlightMax = 20_000,
  bytesInFlightMax = 64 * MEBIBYTE,
  onEvent = () => undefined,
}: RedisOptions): Promise<RedisStore> {
  const place = parseRedisUrl(url)
  if (!KEY_PREFIX.test(keyPrefix)) {
    throw new CounterstepError('SAGA_STORE_UNSUPPORTED', `the key prefix must match ${KEY_PREFIX.source}`)
  }
  const settings = { ...toLinkSettings(place, tls), commandTimeoutMs, connectTimeoutMs }
  const bounds = { commandsInFlightMax, bytesInFlightMax }
  const inFlight = new InFlight(bounds)
  const servers: Servers = new Servers(place, settings, inFlight, {
    joined: (link) => health.noteJoined(link),
    gained: (link) => health.tail.inspect(link),
    lost: (link, reason) => health.noteBroken(link, reason),
  })
  const allCalls = new ShardCalls(servers, MANY_SHARDS, keyPrefix)
  const terms = { isCluster: place.isCluster, acceptClassC, declared: durability }
  const health = new StoreHealth(allCalls, randomUUID(), terms, onEvent)
  try {
    await servers.open()
    const facts = await Promise.all(servers.masters().map(readFacts))
    const durabilityClass = admitServers(facts, terms)
    health.setPromisedClass(durabilityClass)
    await probeWrites(servers, allCalls)
    const calls = new ShardCalls(servers, await readShards(allCalls), keyPrefix)
    const rows = new RowWrites(calls, bounds)
    return new RedisStore(calls, rows, health, {
      durabilityClass,
      failover: failover ?? readFailover(place, facts),
    })
  } catch (error: unknown) {
    servers.close()
    throw toOpeningError(error)
  }
}

function toLinkSettings(
  { username, password, db, isTls }: RedisPlace,
  tls: RedisOptions['tls'],
): Omit<LinkSettings, 'commandTimeoutMs' | 'connectTimeoutMs'> {
  const { ca, serverName } = tls ?? {}
  return {
    db,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(isTls && {
      tls: { ...(ca !== undefined && { ca }), ...(serverName !== undefined && { servername: serverName }) },
    }),
  }
}

function readFailover({ isCluster }: RedisPlace, facts: readonly ServerFacts[]): Store['failover'] {
  return !isCluster && facts.every(({ replicas }) => replicas === 0) ? 'none' : 'lossy'
}

function toOpeningError(error: unknown): Error {
  if (isDenied(error)) {
    const message =
      'this Redis user may not write keys under the prefix, or lacks a command: docs/stores.md has the rights that are needed'
    return new CounterstepError('SAGA_STORE_UNSUPPORTED', message, { cause: error })
  }
  if (error instanceof ServerRefusal) return toStoreError(error)
  if (error instanceof CounterstepError || error instanceof StoreUnavailableError) return error
  return new AssertionError(`opening the Redis store: ${String(error)}`)
}
