import { borrow, startDeadline, within } from '../deadline.ts'
import {
  execute,
  hasErrno,
  type MysqlConnection,
  type MysqlPool,
  type MysqlPoolConnection,
  select,
} from './mysql-connection.ts'

/** A session of the server, by its id there and our end's port. */
interface Session {
  readonly id: number
  /** Undefined for a Unix socket. */
  readonly port: number | undefined
}

/** Those of a pool that are still to be ended, while one connection of it is about to. */
const waitingToEnd = new WeakMap<object, Session[]>()

/**
 * Closes a connection on which a statement may be under way, and ends its session. A server does not notice that a client
 * has gone while the session waits for a lock: for 50 s by default it would keep its place and its own locks, and every
 * repetition of the call would add another. A shorter `innodb_lock_wait_timeout` would cost each call two statements,
 * since whoever has the connection next counts on his own; this costs nothing until a call is late.
 */
export function cutOff<Connection extends MysqlPoolConnection>(
  pool: MysqlPool<Connection>,
  connection: Connection,
): void {
  const session = readSession(connection)
  close(connection)
  if (session === undefined) return
  const sessions = waitingToEnd.get(pool)
  if (sessions !== undefined) {
    sessions.push(session)
    return
  }
  // The call is over, and nobody is left to be told: a session that cannot be ended waits as long as the server lets it.
  endSessions(pool, [session]).catch((error: unknown) => error)
}

/** The driver's own `destroy` only says that it will send no more: a server that has stopped would not answer to that. */
export function close(connection: MysqlPoolConnection): void {
  const stream = findStream(connection)
  connection.destroy()
  stream?.destroy()
}

const END_WITHIN_MS = 10_000

async function endSessions<Connection extends MysqlPoolConnection>(
  pool: MysqlPool<Connection>,
  sessions: Session[],
): Promise<void> {
  waitingToEnd.set(pool, sessions)
  const deadline = startDeadline(END_WITHIN_MS)
  try {
    const connection = await borrow(deadline, () => pool.getConnection())
    try {
      while (sessions.length > 0) await within(deadline, () => kill(connection, sessions.splice(0)))
      connection.release()
    } catch (error: unknown) {
      close(connection)
      throw error
    }
  } finally {
    waitingToEnd.delete(pool)
  }
}

const NO_SUCH_THREAD: ReadonlySet<unknown> = new Set([1094])

/** Only what is surely ours: behind a proxy this connection may lead to another server, with sessions of those ids. */
async function kill(connection: MysqlConnection, sessions: readonly Session[]): Promise<void> {
  const processes = await select(connection, 'SHOW PROCESSLIST')
  for (const { id, port } of sessions) {
    const place = port === undefined ? 'localhost' : `:${port}`
    if (!processes.some(([number, , host]) => number === String(id) && host?.endsWith(place))) continue
    try {
      await execute(connection, `KILL ${id}`)
    } catch (error: unknown) {
      // It has ended in the meantime.
      if (!hasErrno(error, NO_SUCH_THREAD)) throw error
    }
  }
}

/** Undefined for what is no connection of mysql2, but only behaves like one. */
function readSession(connection: MysqlPoolConnection): Session | undefined {
  const raw = findRaw(connection)
  const stream = findStream(connection)
  if (!('threadId' in raw) || typeof raw.threadId !== 'number' || stream === undefined) return undefined
  return { id: raw.threadId, port: stream.localPort }
}

interface Stream {
  readonly localPort?: number
  destroy(): unknown
}

function findStream(connection: MysqlPoolConnection): Stream | undefined {
  const raw = findRaw(connection)
  return 'stream' in raw && isStream(raw.stream) ? raw.stream : undefined
}

function isStream(value: unknown): value is Stream {
  return (
    typeof value === 'object' && value !== null && 'destroy' in value && typeof value.destroy === 'function'
  )
}

/** A promise connection of mysql2 holds the one that has the socket. */
function findRaw(connection: MysqlPoolConnection): object {
  if (!('connection' in connection)) return connection
  const { connection: raw } = connection
  return typeof raw === 'object' && raw !== null ? raw : connection
}
