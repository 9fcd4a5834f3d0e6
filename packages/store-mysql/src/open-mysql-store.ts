import type { Store, StoreEvent } from '@counterstep/core'
import { CounterstepError } from '@counterstep/protocol'
import { type TlsChoice, toSessionTimeouts } from '@counterstep/store-sql'
import { MysqlStore } from './mysql-store.ts'
import { refuseReadOnlyUser } from './schema/probe-writes.ts'
import { ensureSchema, type MigrationReport, refuseOldSchema, refuseOtherEngine } from './schema/schema.ts'
import { readDurability, refuseUnsupported } from './schema/server-facts.ts'
import { toConnectionTarget } from './sessions/connection-target.ts'
import { StoreSessions } from './sessions/store-sessions.ts'
import { DatabaseTransactions } from './transactions/database-transactions.ts'
import { PACKETS } from './transactions/packets.ts'
import { createSingleStatements } from './transactions/single-statements.ts'

export interface MysqlConnection {
  /** `mysql://user:password@host:port/database`. The scheme `mariadb://` means the same. */
  readonly url: string
  /** The default is `off` for this machine and `required` for any other host. */
  readonly tls?: TlsChoice
  /** Bounds the time to connect, and the time in which a connected server must tell its clock. */
  readonly connectTimeoutMs?: number
  /** It is at least two seconds more than the wait for a row's lock. */
  readonly statementTimeoutMs?: number
}

export interface MysqlOptions extends MysqlConnection {
  /** Says what a failover of the database may lose. The store cannot see the replicas, so the default is the worst case. */
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
  /**
   * The host is a proxy that lends a connection for one database transaction, as RDS Proxy does. The store then sends no
   * statement that makes the proxy keep a connection. A flush takes three round trips instead of one, `lockWaitTimeoutMs`
   * is the database's own `innodb_lock_wait_timeout`, and no tables are made.
   */
  readonly multiplexed?: boolean
  readonly onEvent?: (event: StoreEvent) => void
}

const MEBIBYTE = 1024 * 1024
const CONNECTIONS_MIN = 2

export async function openMysqlStore({
  url,
  tls,
  failover = 'lossy',
  acceptClassC = false,
  connectionsMax = 10,
  queueRowsMax = 20_000,
  queueBytesMax = 64 * MEBIBYTE,
  batchRowsMax = 200,
  batchBytesMax = MEBIBYTE,
  // Flushes one after the other write as many rows as two side by side, in half as many commits.
  flushesInFlightMax = 3,
  flushPatienceMs = 20,
  multiplexed = false,
  onEvent = ignoreEvent,
  ...limits
}: MysqlOptions): Promise<MysqlStore> {
  if (connectionsMax < CONNECTIONS_MIN) throw new RangeError(`connectionsMax is less than ${CONNECTIONS_MIN}`)
  const timeouts = toSessionTimeouts(limits)
  const { connectTimeoutMs } = timeouts
  const sessions = new StoreSessions(toConnectionTarget(url, tls, connectTimeoutMs), {
    ...timeouts,
    multiplexed,
    connectionsMax,
    onEvent,
  })
  try {
    await sessions.read(async (session) => {
      refuseUnsupported(sessions.server)
      if (multiplexed) await refuseOldSchema(session)
      else await ensureSchema(session)
      await refuseOtherEngine(session)
      await refuseReadOnlyUser(session)
    })
    const durability = readDurability(sessions.server)
    if (durability.class === 'C' && !acceptClassC) {
      const message = `a crash of the server may lose acknowledged writes: ${durability.because}`
      throw new CounterstepError('SAGA_STORE_NOT_DURABLE', message)
    }
    const transactions = new DatabaseTransactions(
      sessions.writers,
      connectTimeoutMs,
      () => sessions.discardIdle(),
      multiplexed ? createSingleStatements(sessions.server) : PACKETS,
    )
    const queue = { queueRowsMax, queueBytesMax, batchRowsMax, batchBytesMax }
    const bounds = { ...queue, flushesInFlightMax, flushPatienceMs }
    return new MysqlStore({ sessions, transactions, bounds, durabilityClass: durability.class, failover })
  } catch (error: unknown) {
    await sessions.close()
    throw error
  }
}

/** Makes or changes the tables for `counterstep migrate`. The user needs the right to do so. */
export async function migrateMysql({ url, tls, ...limits }: MysqlConnection): Promise<MigrationReport> {
  const timeouts = toSessionTimeouts(limits)
  const sessions = new StoreSessions(toConnectionTarget(url, tls, timeouts.connectTimeoutMs), {
    ...timeouts,
    connectionsMax: CONNECTIONS_MIN,
    onEvent: ignoreEvent,
  })
  try {
    return await sessions.read(async (session) => {
      refuseUnsupported(sessions.server)
      const report = await ensureSchema(session)
      await refuseOtherEngine(session)
      return report
    })
  } finally {
    await sessions.close()
  }
}

function ignoreEvent(): undefined {
  return undefined
}
