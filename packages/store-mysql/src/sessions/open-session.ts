import { type Row, type SessionTimeouts, SqlError } from '@counterstep/store-sql'
import { createConnection } from 'mysql2'
import { STATEMENTS } from '../generated/sql.ts'
import { toVariables, type Variables } from '../schema/server-facts.ts'
import { assertAnswersCounted } from './answered-statements.ts'
import type { ConnectionTarget } from './connection-target.ts'
import { toSqlError } from './server-errors.ts'
import { Session } from './session.ts'
import { fill, parseStatement } from './statement.ts'

export interface SessionSettings extends SessionTimeouts {
  /** A session that writes has none, and each of its flushes ends with its COMMIT. */
  readonly autocommit: boolean
  /** The host is a proxy that lends a connection for one database transaction. */
  readonly multiplexed?: boolean
}

export interface OpenedSession {
  readonly session: Session
  readonly variables: Variables
}

/** The pool closes idle sessions long before, so this ends only the sessions of a node that has stopped in a transaction. */
const SERVER_IDLE_SECONDS_MAX = 10

const SET_SESSION = parseStatement(STATEMENTS.setSession)
const SET_MULTIPLEXED = parseStatement(STATEMENTS.setSessionMultiplexed)
/**
 * RDS Proxy pins a connection at a statement of more than 16 KiB, so the rows of one statement have at most this many
 * bytes.
 */
const MULTIPLEXED_ROW_BYTES_MAX = 12 * 1024

/** Connects and sets the session up. If that fails, it destroys the session and throws. */
export async function openSession(
  target: ConnectionTarget,
  settings: SessionSettings,
): Promise<OpenedSession> {
  const { statementTimeoutMs, connectTimeoutMs, autocommit, multiplexed = false } = settings
  const socket = target.stream()
  const sendsPackets = !autocommit && !multiplexed
  const connection = createConnection({ ...target, stream: socket, multipleStatements: sendsPackets })
  const session = new Session(connection, socket, statementTimeoutMs)
  try {
    await new Promise<void>((resolve, reject) => {
      // When the connection ends, the session destroys the driver, which then calls back no more.
      connection.once('end', () => reject(new SqlError('lost', 'the server has closed the connection')))
      connection.connect((error) => (error === null ? resolve() : reject(toSqlError(error))))
    })
    for (const set of writeSettings(settings)) {
      await session.run(set, connectTimeoutMs)
      assertAnswersCounted(session.answered, 1)
    }
    const variables = toVariables(await readVariables(session, sendsPackets, connectTimeoutMs))
    const wrong = findWrongSetting(variables, settings)
    if (wrong !== undefined) throw new SqlError('unavailable', `the session could not be set up: ${wrong}`)
    session.packetBytesMax = Number(variables.get('max_allowed_packet'))
    if (multiplexed) session.rowBytesMax = MULTIPLEXED_ROW_BYTES_MAX
    // Without this COMMIT the proxy may keep a connection for the database transaction that has read the variables.
    if (multiplexed && !autocommit) await session.run('COMMIT', connectTimeoutMs)
    return { session, variables }
  } catch (error: unknown) {
    session.destroy()
    throw error
  }
}

/** If the session will send packets, the first packet also tests that its answers are counted. */
async function readVariables(
  session: Session,
  inOnePacket: boolean,
  timeoutMs: number,
): Promise<readonly Row[]> {
  const statements = [STATEMENTS.readVariables, STATEMENTS.readRedoStatus]
  if (!inOnePacket) {
    const rows: Row[] = []
    for (const statement of statements) rows.push(...(await session.all(statement, timeoutMs)))
    return rows
  }
  const answers = await session.sendPacket(statements, timeoutMs)
  assertAnswersCounted(session.answered, statements.length)
  return answers.flat() as readonly Row[]
}

function writeSettings({ lockWaitTimeoutMs, autocommit, multiplexed }: SessionSettings): readonly string[] {
  const isAutocommit = autocommit ? 1 : 0
  if (!multiplexed) {
    const lockWaitSeconds = lockWaitTimeoutMs / 1_000
    const set = fill(SET_SESSION, [lockWaitSeconds, SERVER_IDLE_SECONDS_MAX, isAutocommit])
    return [set, STATEMENTS.setIsolation]
  }
  const sets = fill(SET_MULTIPLEXED, [SERVER_IDLE_SECONDS_MAX, isAutocommit]).split(';\n')
  return [STATEMENTS.setIsolation, ...sets]
}

/** Compares what the server says, since a proxy may have answered the statements that set it. */
function findWrongSetting(
  variables: Variables,
  { lockWaitTimeoutMs, autocommit, multiplexed }: SessionSettings,
): string | undefined {
  const isolation = variables.get('transaction_isolation') ?? variables.get('tx_isolation')
  const expected: Readonly<Record<string, string>> = {
    time_zone: '+00:00',
    wait_timeout: String(SERVER_IDLE_SECONDS_MAX),
    autocommit: autocommit ? 'ON' : 'OFF',
    ...(multiplexed ? charset('utf8mb4') : { ...charset('binary'), session_track_system_variables: '' }),
    character_set_results: 'utf8mb4',
    ...(!multiplexed && { innodb_lock_wait_timeout: String(lockWaitTimeoutMs / 1_000) }),
  }
  // A driver that is told of the charset of bytes would write Latin-1, in which another letter's byte may be a quote.
  if (!variables.has('version')) return 'the driver does not write UTF-8'
  const mode = (variables.get('sql_mode') ?? '').split(',')
  if (
    !mode.includes('STRICT_ALL_TABLES') ||
    mode.includes('NO_BACKSLASH_ESCAPES') ||
    mode.includes('ANSI_QUOTES')
  ) {
    return `sql_mode is ${mode.join(',')}`
  }
  if (isolation !== 'READ-COMMITTED') return `the isolation level is ${isolation}`
  const name = Object.keys(expected).find((key) => variables.get(key) !== expected[key])
  return name && `${name} is ${variables.get(name)}`
}

function charset(name: 'binary' | 'utf8mb4') {
  return { character_set_client: name, character_set_connection: name }
}
