import { errors } from 'undici'

/**
 * Each word says why a call has no answer. The words are stable and short, and never hold an address or a text that the
 * service has sent.
 *
 * - `timeout`: The total deadline passed.
 * - `connect-timeout`: There was no connection in time, and nothing was sent.
 * - `denied-target`, `denied-address`: The configuration does not let a call go there, and nothing was sent.
 * - `refused`, `unreachable`, `dns`: There was no connection, and nothing was sent.
 * - `tls`: TLS failed, so no service has read the call.
 * - `reset`: The connection ended before the answer was whole.
 * - `bad-response`: The answer is not HTTP, or is not as long as it says.
 * - `too-large`: The headers of the answer are over the bound.
 * - `busy`: A bound of this caller kept the call waiting, and nothing was sent.
 * - `closed`: This caller was closed.
 * - `bad-url`, `bad-request`: The call cannot be sent.
 * - `unread`: The words in the body decide the result, and the body could not be read: a 200 was packed or over the
 *   bound, or other packed bodies took the room for it.
 * - `resources`: This process has no file handles or no memory for a connection.
 * - `other`: The error is none of these.
 */
export type ErrorWord =
  | 'timeout'
  | 'connect-timeout'
  | 'denied-target'
  | 'denied-address'
  | 'refused'
  | 'unreachable'
  | 'dns'
  | 'tls'
  | 'reset'
  | 'bad-response'
  | 'too-large'
  | 'busy'
  | 'closed'
  | 'bad-url'
  | 'bad-request'
  | 'unread'
  | 'resources'
  | 'other'

const WORDS: ReadonlyMap<string, ErrorWord> = new Map<string, ErrorWord>([
  ['COUNTERSTEP_DENIED_ADDRESS', 'denied-address'],
  ['ECONNREFUSED', 'refused'],
  ['ECONNRESET', 'reset'],
  ['COUNTERSTEP_RESET', 'reset'],
  ['EPIPE', 'reset'],
  ['ECONNABORTED', 'reset'],
  ['ETIMEDOUT', 'connect-timeout'],
  ['EHOSTUNREACH', 'unreachable'],
  ['ENETUNREACH', 'unreachable'],
  ['EADDRNOTAVAIL', 'unreachable'],
  ['EACCES', 'unreachable'],
  ['ENOTFOUND', 'dns'],
  ['EAI_AGAIN', 'dns'],
  ['ENODATA', 'dns'],
  ['COUNTERSTEP_TOO_MANY_LOOKUPS', 'dns'],
  ['EPROTO', 'tls'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'tls'],
  ['HOSTNAME_MISMATCH', 'tls'],
  ['COUNTERSTEP_COSTLY_HANDSHAKE', 'tls'],
  ['COUNTERSTEP_BAD_REQUEST', 'bad-request'],
  ['UND_ERR_CONNECT_TIMEOUT', 'connect-timeout'],
  // A proxy did not answer in time, ended the connection, or refused to make the tunnel.
  ['UND_ERR_HEADERS_TIMEOUT', 'connect-timeout'],
  ['UND_ERR_PRX_CONN', 'unreachable'],
  ['UND_ERR_PRX_TLS', 'tls'],
  ['UND_ERR_ABORTED', 'unreachable'],
  ['UND_ERR_SOCKET', 'reset'],
  ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'bad-response'],
  ['UND_ERR_HEADERS_OVERFLOW', 'too-large'],
  ['UND_ERR_DESTROYED', 'closed'],
  ['UND_ERR_CLOSED', 'closed'],
  ['UND_ERR_INVALID_ARG', 'bad-request'],
  ['EMFILE', 'resources'],
  ['ENFILE', 'resources'],
  ['ENOBUFS', 'resources'],
  ['ENOMEM', 'resources'],
])

const FAMILIES: readonly (readonly [string, ErrorWord])[] = [
  ['ERR_TLS_', 'tls'],
  ['ERR_SSL_', 'tls'],
  ['CERT_', 'tls'],
  ['UNABLE_TO_', 'tls'],
  ['ERR_HTTP2_', 'reset'],
]

/** These words say that nothing was sent, which must not be said of a request that has begun. */
const NOTHING_SENT: ReadonlySet<ErrorWord> = new Set<ErrorWord>([
  'connect-timeout',
  'refused',
  'unreachable',
  'dns',
])

/**
 * Returns the word for an error of a call whose request undici had begun to write, so that part of it may have
 * arrived.
 */
export function toSentErrorWord(error: unknown): ErrorWord {
  const word = toErrorWord(error)
  return NOTHING_SENT.has(word) ? 'reset' : word
}

export function toErrorWord(error: unknown): ErrorWord {
  if (error instanceof URIError) return 'bad-request'
  if (error instanceof errors.HTTPParserError) return 'bad-response'
  const code = readErrorCode(error)
  if (code === undefined) return 'other'
  return WORDS.get(code) ?? FAMILIES.find(([start]) => code.startsWith(start))?.[1] ?? 'other'
}

/** Returns the code of an error of the system, of TLS, of zlib, of undici or of ours. */
export function readErrorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}
