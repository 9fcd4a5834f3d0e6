import { Socket } from 'node:net'
import { type SessionTimeouts, SqlError } from '@counterstep/store-sql'
import { STATEMENTS } from '../generated/sql.ts'
import { readServerFacts, type ServerFacts } from '../schema/server-facts.ts'
import type { ConnectionTarget } from './connection-target.ts'
import { loadDriver } from './load-driver.ts'
import { toSqlError } from './server-errors.ts'
import { getTypeParser, Session } from './session.ts'

export interface SessionSettings extends SessionTimeouts {
  /** The host is a pooler that lends a connection for one database transaction. */
  readonly multiplexed: boolean
}

export interface OpenedSession {
  readonly session: Session
  readonly server: ServerFacts
}

/** The pool closes idle sessions long before, so this ends only the sessions of a node that has stopped in a transaction. */
const IDLE_IN_TRANSACTION_MS = 10_000
/** The server ends a statement before the client gives up on it, since an answer says that nothing was applied. */
const ANSWER_MS = 1_000

/**
 * The settings of a session, whatever those of its user are. The server tells by a warning that the wait of a COMMIT for its
 * standby was cancelled, so warnings have to be sent.
 */
const OWN_OPTIONS = '-c default_transaction_isolation=read\\ committed -c client_min_messages=warning'

/**
 * Every statement finds its rows by an index. A session keeps the plan of a statement that it has prepared, and one that was made while the
 * tables were empty would walk them. A table without an index, which is walked all the same, then seems so dear that the server would compile the
 * statement.
 */
const PLAN_OPTIONS = '-c enable_seqscan=off -c jit=off'

/** Connects and checks the session. If that fails, it destroys the session and throws a `SqlError`. */
export async function openSession(
  target: ConnectionTarget,
  { statementTimeoutMs, lockWaitTimeoutMs, connectTimeoutMs, multiplexed }: SessionSettings,
): Promise<OpenedSession> {
  // The driver connects it. The session keeps it and can reset it.
  const socket = new Socket()
  const { Client } = await loadDriver()
  // A pooler refuses settings of a session, since its sessions are shared. There the user's own settings count.
  const settings = multiplexed
    ? {}
    : {
        options: `${OWN_OPTIONS} ${PLAN_OPTIONS}`,
        statement_timeout: statementTimeoutMs - ANSWER_MS,
        lock_timeout: lockWaitTimeoutMs,
        idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
      }
  const client = new Client({
    ...target,
    ...settings,
    stream: () => socket,
    connectionTimeoutMillis: connectTimeoutMs,
    types: { getTypeParser },
  })
  const session = new Session(client, socket, { statementTimeoutMs, keepsPlans: !multiplexed })
  try {
    await client.connect().catch((error: unknown) => {
      throw toSqlError(error)
    })
    const [row] = await session.all({ sql: STATEMENTS.readServer }, connectTimeoutMs)
    const server = readServerFacts(row)
    const wrong = findWrongSetting(server)
    if (wrong !== undefined) throw new SqlError('unavailable', `the session could not be set up: ${wrong}`)
    if (server.readOnly !== 'off') throw new SqlError('read-only', 'the server is read-only')
    return { session, server }
  } catch (error: unknown) {
    session.destroy()
    throw error
  }
}

function findWrongSetting({ isolation, messagesMin, clientEncoding }: ServerFacts): string | undefined {
  if (isolation !== 'read committed') return `default_transaction_isolation is ${isolation}`
  if (messagesMin === 'error')
    return 'client_min_messages is error, which hides that a COMMIT did not wait for its standby'
  return clientEncoding === 'UTF8' ? undefined : `client_encoding is ${clientEncoding}`
}
