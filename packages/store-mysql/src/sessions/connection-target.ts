import { connect, isIP, type Socket } from 'node:net'
import type { ConnectionOptions } from 'mysql2'

export interface TlsOptions {
  /** PEM certificates of the authorities that may sign the server's certificate. Default: those that Node trusts. */
  readonly ca?: string
  /** The name in the server's certificate. Default: the URL's host, which must then be no address. */
  readonly serverName?: string
}

/** The options of a connection, and a function that makes its socket. The session keeps the socket and can reset it. */
export interface ConnectionTarget extends ConnectionOptions {
  readonly stream: () => Socket
}

/** The choice `required` checks the server's certificate against the authorities that Node trusts. */
export type TlsChoice = 'off' | 'required' | TlsOptions

const KEEP_ALIVE_MS = 10_000
const DEFAULT_PORT = 3306

/** Reads the driver's options from the URL. Throws a `TypeError`, which never shows the URL, since that holds the password. */
export function toConnectionTarget(
  url: string,
  tls: TlsChoice | undefined,
  connectTimeoutMs: number,
): ConnectionTarget {
  const { host, port, user, password, database } = parseStoreUrl(url)
  const choice = tls ?? (isLoopback(host) ? 'off' : 'required')
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
    ...(choice !== 'off' && withTls(host, choice === 'required' ? {} : choice)),
    stream: () =>
      connect({ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS }),
  }
}

/**
 * The driver checks the certificate's name against its `host`, so `host` becomes that name, while the socket connects to the
 * URL's host. For an address the driver would check the name `localhost`.
 */
function withTls(host: string, { ca, serverName = host }: TlsOptions): ConnectionOptions {
  if (isIP(serverName) !== 0)
    throw new TypeError('tls.serverName must name a server whose URL has an address')
  const ssl = { rejectUnauthorized: true, verifyIdentity: true, minVersion: 'TLSv1.2', ...(ca && { ca }) }
  return { ssl, host: serverName }
}

function parseStoreUrl(text: string) {
  if (!URL.canParse(text)) throw new TypeError('the store URL is not a URL')
  const url = new URL(text)
  if (url.protocol !== 'mysql:' && url.protocol !== 'mariadb:') {
    throw new TypeError('the store URL must begin with mysql:// or mariadb://')
  }
  if (url.search !== '' || url.hash !== '') throw new TypeError('the store URL takes no parameters')
  const database = decodeURIComponent(url.pathname.slice(1))
  if (url.hostname === '' || database === '') {
    throw new TypeError(
      'the store URL must name a host and a database: mysql://user:password@host:port/database',
    )
  }
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? DEFAULT_PORT : Number(url.port),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database,
  }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}
