import { connect, isIP, type Socket } from 'node:net'
import type { ConnectionOptions } from 'mysql2'

export interface TlsOptions {
  /** Certificates, PEM, of those who may sign the server's; default: those that Node trusts. */
  readonly ca?: string
  /** The name that the server's certificate must bear; default: the URL's host, which must then be no address. */
  readonly serverName?: string
}

/** The options of a connection, and how its socket is made: the session keeps it, and can reset it. */
export interface ConnectionTarget extends ConnectionOptions {
  readonly stream: () => Socket
}

/** `required`: the server's certificate is checked against those that Node trusts. */
export type TlsChoice = 'off' | 'required' | TlsOptions

const KEEP_ALIVE_MS = 10_000
const DEFAULT_PORT = 3306

/** How to reach the server. Throws a `TypeError`, which never shows the URL: it holds the password. */
export function connectionTarget(
  url: string,
  tls: TlsChoice | undefined,
  connectTimeoutMs: number,
): ConnectionTarget {
  const { host, port, user, password, database } = partsOf(url)
  const choice = tls ?? (isLoopback(host) ? 'off' : 'required')
  return {
    host,
    port,
    user,
    password,
    database,
    connectTimeout: connectTimeoutMs,
    charset: 'utf8mb4',
    // Changed rows are counted, not matched ones; a server must not ask for our files.
    flags: ['-FOUND_ROWS', '-LOCAL_FILES'],
    multipleStatements: false,
    trace: false,
    // The text is whole: a question mark in it is somebody's payload.
    queryFormat: (sql: string) => sql,
    connectAttributes: { program_name: 'counterstep' },
    ...(choice !== 'off' && secured(host, choice === 'required' ? {} : choice)),
    stream: () =>
      connect({ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS }),
  }
}

/**
 * The driver checks the certificate's name against its `host`, so that becomes the name; the socket is made for the URL's
 * host. For an address the driver would check the name `localhost`.
 */
function secured(host: string, { ca, serverName = host }: TlsOptions): ConnectionOptions {
  if (isIP(serverName) !== 0)
    throw new TypeError('tls.serverName must name a server whose URL has an address')
  const ssl = { rejectUnauthorized: true, verifyIdentity: true, minVersion: 'TLSv1.2', ...(ca && { ca }) }
  return { ssl, host: serverName }
}

function partsOf(text: string) {
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
