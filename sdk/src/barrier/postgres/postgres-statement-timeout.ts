import type { Deadline } from '../deadline.ts'
import { type PostgresClient, select } from './postgres-client.ts'

/** The server's limit comes this much later than the call's own, so that the call ends first and reports why. */
const GRACE_MS = 500
const NO_TIMEOUT_MS = 0

const sessionTimeouts = new WeakMap<PostgresClient, number>()

/**
 * Returns the `statement_timeout` of a transaction. A server does not notice that a client has gone while the session
 * waits for a lock: without a bound, the session would keep its connection and its own locks until it got that lock,
 * and every repetition of the call would add another such session. The session's own bound stays if it is the stricter
 * one.
 */
export async function readStatementTimeoutMs(client: PostgresClient, deadline: Deadline): Promise<number> {
  const ownMs = await readSessionTimeoutMs(client)
  const callMs = Math.ceil(Math.max(deadline.at - performance.now(), 0)) + GRACE_MS
  return ownMs === NO_TIMEOUT_MS ? callMs : Math.min(ownMs, callMs)
}

/**
 * Reads the session's own timeout, once in a client's life. In one statement with BEGIN it would take the
 * transaction's snapshot too early.
 */
async function readSessionTimeoutMs(client: PostgresClient): Promise<number> {
  const known = sessionTimeouts.get(client)
  if (known !== undefined) return known
  const text = "SELECT setting FROM pg_settings WHERE name = 'statement_timeout'"
  const [row] = await select(client, text, [])
  const timeoutMs = Number(row?.[0] ?? NO_TIMEOUT_MS)
  sessionTimeouts.set(client, timeoutMs)
  return timeoutMs
}
