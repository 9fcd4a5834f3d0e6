import type { Store, StoreEvent } from '@counterstep/core'
import { CounterstepError } from '@counterstep/protocol'
import { type TlsChoice, toSessionTimeouts } from '@counterstep/store-sql'
import { PostgresStore } from './postgres-store.ts'
import {
  ensureSchema,
  findUnloggedTables,
  type MigrationReport,
  refuseForeignTables,
  refuseReadOnlyUser,
} from './schema/schema.ts'
import { readDurability, readFailover, refuseUnsupported } from './schema/server-facts.ts'
import { CommandListener } from './sessions/command-listener.ts'
import { toConnectionTarget } from './sessions/connection-target.ts'
import { StoreSessions } from './sessions/store-sessions.ts'
import { WritingStatements } from './writes/statements.ts'

export interface PostgresConnection {
  /** `postgres://user:password@host:port/database`. The scheme `postgresql://` means the same. */
  readonly url: string
  /** The default is `off` for this machine and `required` for any other host. */
  readonly tls?: TlsChoice
  readonly connectTimeoutMs?: number
  /** It is at least two seconds more than the wait for a row's lock. */
  readonly statementTimeoutMs?: number
  /**
   * The host is a pooler that lends a connection for one database transaction, as PgBouncer does in its transaction mode. The
   * store then sets nothing in a session and keeps no plans. The wait for a lock is the user's own `lock_timeout`.
   */
  readonly multiplexed?: boolean
}

export interface PostgresOptions extends PostgresConnection {
  /**
   * Says what a failover of the database may lose. By default it is `lossless` where each COMMIT waits for a standby that
   * `synchronous_standby_names` lists, and else the worst case.
   */
  readonly failover?: Store['failover']
  /** Opens also a server whose crash may lose acknowledged writes. */
  readonly acceptClassC?: boolean
  /** Half of them write, half read. */
  readonly connectionsMax?: number
  /** The wait for a row's lock, in whole seconds of at least one. Default: two, or one for a statement of less than four. */
  readonly lockWaitTimeoutMs?: number
  readonly queueRowsMax?: number
  readonly queueBytesMax?: number
  readonly batchRowsMax?: number
  readonly batchBytesMax?: number
  readonly flushesInFlightMax?: number
  /** A flush that takes longer lets the next one start beside it. With 0 they start side by side at once. */
  readonly flushPatienceMs?: number
  readonly onEvent?: (event: StoreEvent) => void
}

const MEBIBYTE = 1024 * 1024
const CONNECTIONS_MIN = 2

/** Opens the store. Throws a `CounterstepError` for a server or a schema that will not do, and a `StoreUnavailableError` if it cannot be reached. */
export async function openPostgresStore({
  url,
  tls,
  failover,
  acceptClassC = false,
  connectionsMax = 10,
  queueRowsMax = 20_000,
  queueBytesMax = 64 * MEBIBYTE,
  batchRowsMax = 200,
  batchBytesMax = MEBIBYTE,
  flushesInFlightMax = 3,
  flushPatienceMs = 20,
  multiplexed = false,
  onEvent = ignoreEvent,
  ...limits
}: PostgresOptions): Promise<PostgresStore> {
  if (connectionsMax < CONNECTIONS_MIN) throw new RangeError(`connectionsMax is less than ${CONNECTIONS_MIN}`)
  const settings = { ...toSessionTimeouts(limits), multiplexed, connectionsMax, onEvent }
  const sessions = new StoreSessions(toConnectionTarget(url, tls), settings)
  try {
    const unlogged = await sessions.read(async (session) => {
      refuseUnsupported(sessions.server)
      await ensureSchema(session)
      await refuseReadOnlyUser(session)
      return await findUnloggedTables(session)
    })
    const durability = readDurability(sessions.server, unlogged)
    if (durability.class === 'C' && !acceptClassC) {
      const message = `a crash of the server may lose acknowledged writes: ${durability.because}`
      throw new CounterstepError('SAGA_STORE_NOT_DURABLE', message)
    }
    const listener = new CommandListener({ open: sessions.open, onEvent })
    const queue = { queueRowsMax, queueBytesMax, batchRowsMax, batchBytesMax }
    return new PostgresStore({
      sessions,
      statements: new WritingStatements(sessions.writers, (error) => sessions.noteFault(error)),
      bounds: { ...queue, flushesInFlightMax, flushPatienceMs },
      durabilityClass: durability.class,
      failover: failover ?? readFailover(sessions.server),
      ...(!multiplexed && { listener }),
    })
  } catch (error: unknown) {
    await sessions.close()
    throw error
  }
}

/**
 * Makes or changes the tables for `counterstep migrate`. The user needs the right to do so. It sets nothing in a session, so it works
 * through a pooler too.
 */
export async function migratePostgres({
  url,
  tls,
  ...limits
}: Omit<PostgresConnection, 'multiplexed'>): Promise<MigrationReport> {
  const timeouts = toSessionTimeouts(limits)
  const settings = { ...timeouts, connectionsMax: CONNECTIONS_MIN, onEvent: ignoreEvent, multiplexed: true }
  const sessions = new StoreSessions(toConnectionTarget(url, tls), settings)
  try {
    return await sessions.read(async (session) => {
      refuseUnsupported(sessions.server)
      // Even a look into a table runs code of its owner, if it is a view.
      await refuseForeignTables(session)
      return ensureSchema(session)
    })
  } finally {
    await sessions.close()
  }
}

function ignoreEvent(): undefined {
  return undefined
}
