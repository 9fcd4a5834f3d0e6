import { borrow, startDeadline, within } from '../deadline.ts'
import {
  execute,
  hasErrno,
  type MysqlConnection,
  type MysqlPool,
  type MysqlPoolConnection,
  select,
} from './mysql-connection.ts'
import { readSocket, readThreadId } from './mysql2-parts.ts'

/** A session of the server, known by its id there and by the port of our end. */
interface Session {
  readonly id: number
  /** It is undefined for a Unix socket. */
  readonly port: number | undefined
}

/** The sessions of each pool that are still to be ended, while one connection of the pool is about to do so. */
const waitingToEnd = new WeakMap<object, Session[]>()

/**
 * Closes a connection on which a statement may be under way, and ends its session. A server does not notice that a
 * client has gone while the session waits for a lock: for 50 s by default the session would keep its place and its own
 * locks, and every repetition of the call would add another. A shorter `innodb_lock_wait_timeout` would cost each call
 * two statements, since it would have to be set back for the next borrower. Ending the session costs nothing until a
 * call is late.
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
  // The call is over, so no caller could handle the error. A session that cannot be ended waits as long as the server
  // lets it.
  endSessions(pool, [session]).catch((error: unknown) => error)
}

/**
 * Closes the connection and its socket. The driver's own `destroy` only ends our side of the stream, and a server that
 * has stopped would never end the other side.
 */
export function close(connection: MysqlPoolConnection): void {
  const socket = readSocket(connection)
  connection.destroy()
  socket?.destroy()
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

/**
 * Ends the sessions that are surely ours. Behind a proxy this connection may lead to another server, where other
 * clients' sessions have those ids.
 */
async function kill(connection: MysqlConnection, sessions: readonly Session[]): Promise<void> {
  const processes = await select(connection, 'SHOW PROCESSLIST')
  for (const { id, port } of sessions) {
    const place = port === undefined ? 'localhost' : `:${port}`
    if (!processes.some(([number, , host]) => number === String(id) && host?.endsWith(place))) continue
    try {
      await execute(connection, `KILL ${id}`)
    } catch (error: unknown) {
      // The session has ended in the meantime.
      if (!hasErrno(error, NO_SUCH_THREAD)) throw error
    }
  }
}

/** Returns undefined for an object that is no connection of mysql2, but only behaves like one. */
function readSession(connection: MysqlPoolConnection): Session | undefined {
  const id = readThreadId(connection)
  const socket = readSocket(connection)
  return id === undefined || socket === undefined ? undefined : { id, port: socket.localPort }
}
