import { connect, type Socket } from 'node:net'
import { chooseTls, parseServerUrl, type TlsChoice, type TlsOptions } from '@counterstep/store-sql'
import type { ConnectionOptions } from 'mysql2'

/** The options of a connection, and a function that makes its socket. The session keeps the socket and can reset it. */
export interface ConnectionTarget extends ConnectionOptions {
  readonly stream: () => Socket
}

const KEEP_ALIVE_MS = 10_000
const URL_RULES = { protocols: ['mysql:', 'mariadb:'], defaultPort: 3306 }

/** Reads the driver's options from the URL. Throws a `TypeError`, which never shows the URL, since that holds the password. */
export function toConnectionTarget(
  url: string,
  tls: TlsChoice | undefined,
  connectTimeoutMs: number,
): ConnectionTarget {
  const { host, port, user, password, database } = parseServerUrl(url, URL_RULES)
  const secured = chooseTls(host, tls)
  return {
    host,
    port,
    user,
    password,
    database,
    connectTimeout: connectTimeoutMs,
    charset: 'utf8mb4',
    // The server counts changed rows and not matched ones, and must not ask for our files.
    flags: ['-FOUND_ROWS', '-LOCAL_FILES'],
    multipleStatements: false,
    trace: false,
    // The text is complete: a question mark in it belongs to a payload.
    queryFormat: (sql: string) => sql,
    connectAttributes: { program_name: 'counterstep' },
    ...(secured && withTls(secured)),
    stream: () =>
      connect({ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS }),
  }
}

/**
 * The driver checks the certificate's name against its `host`, so `host` becomes that name, while the socket connects to the
 * URL's host. For an address the driver would check the name `localhost`.
 */
function withTls({ ca, serverName }: TlsOptions & { readonly serverName: string }): ConnectionOptions {
  const ssl = { rejectUnauthorized: true, verifyIdentity: true, minVersion: 'TLSv1.2', ...(ca && { ca }) }
  return { ssl, host: serverName }
}
