export interface PgbouncerPlace {
  /** The file with the rules of logins. */
  readonly rules: string
  /** The file with the names of users. */
  readonly users: string
  readonly port: number
  /** The port of the PostgreSQL behind it. */
  readonly serverPort: number
  readonly version: string
  /** Lines that come last, and override the others. */
  readonly settings: readonly string[]
}

/** From this version on the pooler knows prepared statements with names, unless it is told otherwise. */
const PREPARED_SINCE_MINOR = 21

/**
 * Writes the settings of a strict pooler. A client that keeps something on its connection from one transaction to the next
 * fails here at once, and not only under load, when another client gets its server connection.
 */
export function writePgbouncerConfig(place: PgbouncerPlace): string {
  const { rules, users, port, serverPort, version, settings } = place
  const isAwareOfPrepared = isSince(version, PREPARED_SINCE_MINOR)
  return [
    '[databases]',
    `* = host=127.0.0.1 port=${serverPort}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    // A Unix socket is not needed, and its usual folder may belong to another user.
    'unix_socket_dir =',
    'auth_type = hba',
    `auth_hba_file = ${rules}`,
    `auth_file = ${users}`,
    'auth_user = postgres',
    'admin_users = postgres',
    'pool_mode = transaction',
    'server_round_robin = 1',
    // Otherwise one client at a time would still find its named statement on its server connection.
    'server_reset_query = DEALLOCATE ALL',
    'server_reset_query_always = 1',
    ...(isAwareOfPrepared ? ['max_prepared_statements = 0'] : []),
    // A client that sends a parameter which the pooler does not know is refused.
    'ignore_startup_parameters =',
    'max_client_conn = 300',
    'default_pool_size = 10',
    // The databases of tests come and go, and the server has 200 connections for all.
    'server_idle_timeout = 10',
    // A server that was restarted, or a database that was made, is there at once and not after the usual 15 s.
    'server_login_retry = 1',
    ...settings,
    '',
  ].join('\n')
}

/** Tells whether a version 1.x is this minor version or a later one. */
export function isSince(version: string, minor: number): boolean {
  const [major = 0, its = 0] = version.split('.').map(Number)
  return major > 1 || its >= minor
}
