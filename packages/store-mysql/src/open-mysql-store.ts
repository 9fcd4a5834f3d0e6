import type { Store, StoreEvent } from '@counterstep/core'
import { CounterstepError } from '@counterstep/protocol'
import { MysqlStore } from './mysql-store.ts'
import { refuseReadOnlyUser } from './schema/probe-writes.ts'
import { ensureSchema, type MigrationReport, refuseOldSchema, refuseOtherEngine } from './schema/schema.ts'
import { readDurability, refuseUnsupported } from './schema/server-facts.ts'
import { connectionTarget, type TlsChoice } from './sessions/connection-target.ts'
import { sessionTimeouts } from './sessions/session-timeouts.ts'
import { StoreSessions } from './sessions/store-sessions.ts'
import { DatabaseTransactions } from './transactions/database-transactions.ts'
import { PACKETS } from './transactions/packets.ts'
import { singleStatements } from './transactions/single-statements.ts'

export interface MysqlConnection {
  /** `mysql://user:password@host:port/database`; `mariadb://` is the same. */
  readonly url: string
  /** Default: `off` for this machine, `required` for any other host. */
  readonly tls?: TlsChoice
  /** For a connection to be made, and for a connection that is there to tell the time. */
  readonly connectTimeoutMs?: number
  /** At least two seconds more than a row's lock is waited for. */
  readonly statementTimeoutMs?: number
}

export interface MysqlOptions extends MysqlConnection {
  /** What a failover of the database may lose; replicas cannot be seen from here, so the default is the worst. */
  readonly failover?: Store['failover']
  /** Opens also where a crash of the server's process may lose what was acknowledged. */
  readonly acceptClassC?: boolean
  /** Half of them write, half read. */
  readonly connectionsMax?: number
  /** Whole seconds, at least one; how long a row's lock is waited for. Default: two, or one for a statement of less than four. */
  readonly lockWaitTimeoutMs?: number
  readonly queueRowsMax?: number
  readonly queueBytesMax?: number
  readonly batchRowsMax?: number
  readonly batchBytesMax?: number
  readonly flushesInFlightMax?: number
  /** A flush that takes longer lets the next start beside it; 0: they start side by side at once. */
  readonly flushPatienceMs?: number
  /**
   * The host is a proxy that lends a connection for one database transaction, as RDS Proxy does: no statement makes it
   * keep one. A flush is three round trips instead of one, `lockWaitTimeoutMs` is the database's own
   * `innodb_lock_wait_timeout`, and no tables are made.
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
  // One after the other writes as many rows as two side by side, in half as many commits.
  flushesInFlightMax = 3,
  flushPatienceMs = 20,
  multiplexed = false,
  onEvent = ignoreEvent,
  ...limits
}: MysqlOptions): Promise<MysqlStore> {
  if (connectionsMax < CONNECTIONS_MIN) throw new RangeError(`connectionsMax is less than ${CONNECTIONS_MIN}`)
  const timeouts = sessionTimeouts(limits)
  const { connectTimeoutMs } = timeouts
  const sessions = new StoreSessions(connectionTarget(url, tls, connectTimeoutMs), {
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
      multiplexed ? singleStatements(sessions.server) : PACKETS,
    )
    const queue = { queueRowsMax, queueBytesMax, batchRowsMax, batchBytesMax }
    const bounds = { ...queue, flushesInFlightMax, flushPatienceMs }
    return new MysqlStore({ sessions, transactions, bounds, durabilityClass: durability.class, failover })
  } catch (error: unknown) {
    await sessions.close()
    throw error
  }
}

/** For `counterstep migrate`: makes or changes the tables, as a user who may. */
export async function migrateMysql({ url, tls, ...limits }: MysqlConnection): Promise<MigrationReport> {
  const timeouts = sessionTimeouts(limits)
  const sessions = new StoreSessions(connectionTarget(url, tls, timeouts.connectTimeoutMs), {
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
