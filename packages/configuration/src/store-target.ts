import type { Parsed } from '@counterstep/branch-http/targets'

export type ServerScheme =
  | 'mysql'
  | 'mariadb'
  | 'postgres'
  | 'postgresql'
  | 'redis'
  | 'rediss'
  | 'redis-cluster'
  | 'rediss-cluster'

/** Describes the store that `--store` names. An empty path means the default file in the data folder. */
export type StoreTarget = { readonly family: 'sqlite'; readonly path: string } | ServerTarget

export interface ServerTarget {
  readonly family: 'mysql' | 'postgres' | 'redis'
  readonly scheme: ServerScheme
  readonly user: string
  /** It is undefined if the URL has none. The password may then come from its own variable or from a file. */
  readonly password: string | undefined
  /** It is host or host:port. Only a cluster may have several, joined by commas. */
  readonly hosts: string
  /** MySQL and PostgreSQL have a name here and Redis a number. It is empty if the URL names none. */
  readonly database: string
}

const FAMILIES: Readonly<Record<ServerScheme, ServerTarget['family']>> = {
  mysql: 'mysql',
  mariadb: 'mysql',
  postgres: 'postgres',
  postgresql: 'postgres',
  redis: 'redis',
  rediss: 'redis',
  'redis-cluster': 'redis',
  'rediss-cluster': 'redis',
}

/** Reads the text of `--store`. A problem never quotes the text, because the wrong part may be a password. */
export function parseStore(text: string): Parsed<StoreTarget> {
  const scheme = /^([a-z][a-z0-9+.-]+):/i.exec(text)?.[1]?.toLowerCase()
  if (scheme === undefined || scheme === 'sqlite') return parseSqlite(text, scheme)
  if (isServerScheme(scheme)) return parseServer(scheme, text.slice(scheme.length + 1))
  return {
    problem: `must be a path, sqlite:PATH or a URL that starts with ${Object.keys(FAMILIES).join('://, ')}://`,
  }
}

/** Makes the URL that the store opens. With a password it must never be shown. */
export function buildStoreUrl(target: ServerTarget, password: string | undefined): string {
  const secret = password === undefined ? '' : `:${encodeURIComponent(password)}`
  const login = `${encodeURIComponent(target.user)}${secret}`
  return `${target.scheme}://${login === '' ? '' : `${login}@`}${target.hosts}${toDatabasePath(target)}`
}

/** Describes the target for people, without its password and without stars in its place. */
export function showTarget(target: ServerTarget): string {
  return buildStoreUrl(target, undefined)
}

export function isTlsScheme(scheme: ServerScheme): boolean {
  return scheme === 'rediss' || scheme === 'rediss-cluster'
}

/** Gives a Redis target the scheme that asks for TLS. No other server has such a scheme. */
export function withTlsScheme(target: ServerTarget): ServerTarget {
  if (target.scheme === 'redis') return { ...target, scheme: 'rediss' }
  if (target.scheme === 'redis-cluster') return { ...target, scheme: 'rediss-cluster' }
  return target
}

function toDatabasePath({ database }: ServerTarget): string {
  return database === '' ? '' : `/${database}`
}

function isServerScheme(scheme: string): scheme is ServerScheme {
  return Object.hasOwn(FAMILIES, scheme)
}

function parseSqlite(text: string, scheme: string | undefined): Parsed<StoreTarget> {
  const path = scheme === 'sqlite' ? text.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, '') : text
  if (scheme === 'sqlite' && path === '') return { problem: 'names no file' }
  if (path === ':memory:') return { problem: 'must be a file: a store in memory forgets' }
  if (path.startsWith('//') || /[?#]/.test(path)) {
    return { problem: 'must be sqlite: and a path, with no host and no parameters' }
  }
  return { value: { family: 'sqlite', path } }
}

function parseServer(scheme: ServerScheme, rest: string): Parsed<ServerTarget> {
  if (!rest.startsWith('//')) return { problem: `must go on with // after ${scheme}:` }
  if (/[?#\\\s]/.test(rest)) {
    return {
      problem:
        'has a character that must be percent-encoded (? # \\ or a space); parameters have options of their own',
    }
  }
  // The last @ ends the login, so that a password may have one.
  const [, login = '', authority = '', slash = '', database = ''] =
    /^\/\/(?:(.*)@)?([^/@]*)(?:(\/)([^@]*))?$/.exec(rest) ?? []
  const known = parseLogin(login)
  if ('problem' in known) return known
  const target = { family: FAMILIES[scheme], scheme, ...known.value, hosts: authority, database }
  const problem =
    findHostsProblem(target) ??
    (target.family === 'redis' ? findRedisProblem(target, slash !== '') : findSqlProblem(target))
  return problem === undefined ? { value: target } : { problem }
}

function parseLogin(login: string): Parsed<Pick<ServerTarget, 'user' | 'password'>> {
  // A login has no slash, so a character was left unencoded, and it cannot be told which part is the password.
  if (login.includes('/')) return { problem: 'has a / before its @; percent-encode it as %2F' }
  const colon = login.indexOf(':')
  const [user, password] = colon < 0 ? [login, undefined] : [login.slice(0, colon), login.slice(colon + 1)]
  try {
    return {
      value: {
        user: decodeURIComponent(user),
        // Templates write `user:@host` if the password is unset.
        password: password === undefined || password === '' ? undefined : decodeURIComponent(password),
      },
    }
  } catch (error: unknown) {
    if (!(error instanceof URIError)) throw error
    return { problem: 'has a % in its user or password that encodes nothing; write % as %25' }
  }
}

const HOST = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?$/

function findHostsProblem({ scheme, hosts }: ServerTarget): string | undefined {
  const each = hosts.split(',')
  if (each.length > 1 && !scheme.endsWith('-cluster')) return `names several hosts, which ${scheme}:// cannot`
  for (const host of each) {
    const match = HOST.exec(host)
    const port = Number(match?.[1] ?? 1)
    if (match === null || port < 1 || port > 65_535) return 'must have host or host:port after its user'
  }
  return undefined
}

function findSqlProblem({ user, database }: ServerTarget): string | undefined {
  if (user === '') return 'names no user'
  if (!/^[\w$-]{1,64}$/.test(database)) {
    return 'must end in /DATABASE, a name of letters, digits, _, - and $'
  }
  return undefined
}

function findRedisProblem({ scheme, database }: ServerTarget, hasPath: boolean): string | undefined {
  if (scheme.endsWith('-cluster')) return hasPath ? 'names a database, and a cluster has only one' : undefined
  return /^\d{0,4}$/.test(database) ? undefined : 'must end in /NUMBER, or in no path at all'
}
