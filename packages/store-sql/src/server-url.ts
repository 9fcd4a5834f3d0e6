import { isIP } from 'node:net'

export interface TlsOptions {
  /** PEM certificates of the authorities that may sign the server's certificate. Default: those that Node trusts. */
  readonly ca?: string
  /** The name in the server's certificate. Default: the URL's host, which must then be no address. */
  readonly serverName?: string
}

/** The choice `required` checks the server's certificate against the authorities that Node trusts. */
export type TlsChoice = 'off' | 'required' | TlsOptions

export interface UrlRules {
  /** Each ends in its colon. The first stands in the errors. */
  readonly protocols: readonly string[]
  readonly defaultPort: number
}

export interface ServerTarget {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly database: string
}

/** Reads the URL of a server. Throws a `TypeError`, which never shows the URL, since that holds the password. */
export function parseServerUrl(text: string, { protocols, defaultPort }: UrlRules): ServerTarget {
  if (!URL.canParse(text)) throw new TypeError('the store URL is not a URL')
  const url = new URL(text)
  if (!protocols.includes(url.protocol)) {
    const schemes = protocols.map((protocol) => `${protocol}//`).join(' or ')
    throw new TypeError(`the store URL must begin with ${schemes}`)
  }
  if (url.search !== '' || url.hash !== '') throw new TypeError('the store URL takes no parameters')
  const database = decode(url.pathname.slice(1))
  if (url.hostname === '' || database === '') {
    throw new TypeError(
      `the store URL must name a host and a database: ${protocols[0]}//user:password@host:port/database`,
    )
  }
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? defaultPort : Number(url.port),
    user: decode(url.username),
    password: decode(url.password),
    database,
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new TypeError('the store URL has a percent sign that is no part of an encoded character')
  }
}

/** Returns undefined if the connection is not encrypted, which is the default for this machine alone. */
export function chooseTls(
  host: string,
  tls: TlsChoice | undefined,
): (TlsOptions & { readonly serverName: string }) | undefined {
  const choice = tls ?? (isLoopback(host) ? 'off' : 'required')
  if (choice === 'off') return undefined
  const { serverName = host, ...options } = choice === 'required' ? {} : choice
  if (isIP(serverName) !== 0)
    throw new TypeError('tls.serverName must name a server whose URL has an address')
  return { ...options, serverName }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}
