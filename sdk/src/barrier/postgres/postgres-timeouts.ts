import type { Deadline } from '../deadline.ts'
import { type PostgresClient, select } from './postgres-client.ts'

/** The server's limits come this much later than the call's own, so that the call ends first and reports why. */
const GRACE_MS = 500
const NO_TIMEOUT_MS = 0

const TIMEOUTS = ['statement_timeout', 'idle_in_transaction_session_timeout'] as const

/** The session's own timeouts in milliseconds, in the order of `TIMEOUTS`. */
type SessionTimeouts = readonly number[]

const sessionTimeouts = new WeakMap<PostgresClient, SessionTimeouts>()

/**
 * Returns the statements that bound a transaction on the server. Without them a session may outlive its call:
 *
 * - `statement_timeout`: a server does not notice that a client has gone while the session waits for a lock. The session
 *   would keep its connection and its own locks until it got that lock, and every repetition of the call would add another
 *   such session.
 * - `idle_in_transaction_session_timeout`: a process that is frozen in the middle of an effect, as an environment of AWS
 *   Lambda is, neither sends a statement nor closes its connection, and its locks would last as long as it is frozen.
 *
 * The session's own bound stays if it is the stricter one.
 */
export async function buildTimeouts(client: PostgresClient, deadline: Deadline): Promise<string> {
  const session = await readSessionTimeouts(client)
  const callMs = Math.ceil(Math.max(deadline.at - performance.now(), 0)) + GRACE_MS
  return TIMEOUTS.map((name, at) => {
    const ownMs = session[at] ?? NO_TIMEOUT_MS
    return `SET LOCAL ${name} = ${ownMs === NO_TIMEOUT_MS ? callMs : Math.min(ownMs, callMs)}`
  }).join('; ')
}

/**
 * Reads the session's own timeouts, once in a client's life. In one statement with BEGIN it would take the
 * transaction's snapshot too early.
 */
async function readSessionTimeouts(client: PostgresClient): Promise<SessionTimeouts> {
  const known = sessionTimeouts.get(client)
  if (known !== undefined) return known
  const names = TIMEOUTS.map((name) => `'${name}'`).join(', ')
  const rows = await select(client, `SELECT name, setting FROM pg_settings WHERE name IN (${names})`, [])
  const timeouts = TIMEOUTS.map((name) => Number(rows.find(([each]) => each === name)?.[1] ?? NO_TIMEOUT_MS))
  sessionTimeouts.set(client, timeouts)
  return timeouts
}
