import { CounterstepError } from '@counterstep/protocol'
import type { Endpoint } from './server-link.ts'

export interface RedisPlace {
  readonly seeds: readonly Endpoint[]
  readonly isCluster: boolean
  readonly isTls: boolean
  readonly username?: string
  readonly password?: string
  readonly db: number
}

const FORM =
  'redis://[user:password@]host:port[/db], rediss://…, redis-cluster://[user:password@]host:port,host:port…, rediss-cluster://…'
const SCHEME = /^(rediss?)(-cluster)?:\/\//
const DEFAULT_PORT = 6_379

/** Throws an error that says what is wrong without repeating the URL, which holds a password. */
export function parseRedisUrl(url: string): RedisPlace {
  const [scheme, protocol, cluster] = SCHEME.exec(url) ?? []
  if (scheme === undefined) throw toMalformedUrlError('the scheme')
  const rest = url.slice(scheme.length)
  const at = rest.lastIndexOf('@')
  const [hosts = '', path = '', ...more] = rest.slice(at + 1).split('/')
  const isCluster = cluster !== undefined
  const db = path === '' ? 0 : Number(path)
  if (more.length > 0 || !Number.isSafeInteger(db) || db < 0) throw toMalformedUrlError('the database number')
  if (isCluster && db !== 0) throw toMalformedUrlError('the database number: a cluster has only 0')
  const seeds = hosts.split(',').map(parseEndpoint)
  if (!isCluster && seeds.length > 1) throw toMalformedUrlError('the hosts: several need redis-cluster://')
  return {
    seeds,
    isCluster,
    isTls: protocol === 'rediss',
    db,
    ...parseCredentials(rest.slice(0, Math.max(at, 0))),
  }
}

function parseEndpoint(text: string): Endpoint {
  let url: URL
  try {
    url = new URL(`redis://${text}`)
  } catch {
    throw toMalformedUrlError('a host')
  }
  if (url.hostname === '' || url.search !== '' || url.hash !== '' || url.username !== '')
    throw toMalformedUrlError('a host')
  // Brackets belong to the URL, not to the IPv6 address.
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? DEFAULT_PORT : Number(url.port),
  }
}

function parseCredentials(text: string): { readonly username?: string; readonly password?: string } {
  if (text === '') return {}
  const colon = text.indexOf(':')
  try {
    const username = decodeURIComponent(colon < 0 ? text : text.slice(0, colon))
    const password = decodeURIComponent(colon < 0 ? '' : text.slice(colon + 1))
    return { ...(username !== '' && { username }), ...(password !== '' && { password }) }
  } catch {
    throw toMalformedUrlError('the user or the password: not URL-encoded')
  }
}

function toMalformedUrlError(what: string): CounterstepError {
  return new CounterstepError(
    'SAGA_STORE_UNSUPPORTED',
    `the Redis URL is malformed at ${what}; it must be ${FORM}`,
  )
}
