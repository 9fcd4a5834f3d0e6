import type { KeyReader } from './api-key.ts'
import { isUnavailable, UnavailableError } from './errors.ts'
import { toAnswerTooLargeError, toProblemError } from './problem-error.ts'
import { getTraceJoiner } from './telemetry/trace-joiner.ts'
import { AnswerTooLargeError } from './transport/answer-bytes.ts'
import type { Exchange, ExchangeRequest } from './transport/exchange.ts'
import { createFetchExchange } from './transport/fetch-exchange.ts'
import { createNodeExchange } from './transport/node-exchange.ts'
import { findNodeHttp } from './transport/node-http.ts'
import { mayServeElsewhere, type Server, ServerRing } from './transport/server-ring.ts'
import type { ServerUrls } from './transport/server-urls.ts'

export interface Request {
  readonly method: 'GET' | 'POST'
  /** This is the path from the base URL, percent-encoded. */
  readonly path: string
  /** It is JSON. */
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
  /** This is the time limit of one attempt. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
  /** Errors name it. */
  readonly gid?: string
}

/**
 * Sends a request once and returns the JSON of a 2xx answer. Requests go to the server that answered last. When it
 * cannot serve a request, the next request goes to the next server.
 */
export type Transport = (request: Request) => Promise<unknown>

export interface TransportOptions {
  /** These are the URLs of servers that share one store. */
  readonly urls: ServerUrls
  /** This is the caller's own `fetch`. Without it Node's HTTP client is used, and elsewhere the global `fetch`. */
  readonly fetch: typeof globalThis.fetch | undefined
  readonly readApiKey: KeyReader
  readonly headers: Readonly<Record<string, string>>
  readonly answerBytesMax: number
  /** It gets the server's time with each answer that tells it, in milliseconds from the epoch. */
  readonly onServerNow?: ((at: number) => void) | undefined
}

export function createTransport({
  urls,
  fetch,
  readApiKey,
  headers,
  answerBytesMax,
  onServerNow,
}: TransportOptions): Transport {
  const [first, ...others] = urls
  const servers = new ServerRing([toServer(first, fetch), ...others.map((url) => toServer(url, fetch))])
  const ofAll = { accept: 'application/json', ...headers }
  return async function send({ path, method, body, timeoutMs, signal, gid, ...request }) {
    signal?.throwIfAborted()
    const key = readApiKey === undefined ? undefined : await readApiKey()
    // It may have aborted while the key was read, and would tell of that no more.
    signal?.throwIfAborted()
    const sent = {
      method,
      path,
      headers: {
        ...ofAll,
        ...getTraceJoiner()?.buildHeaders(),
        ...request.headers,
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      answerBytesMax,
      timeoutMs,
      signal,
      ...(body === undefined ? {} : { body }),
    }
    const server = servers.current()
    try {
      return await exchangeWithServer(server, sent, gid, onServerNow)
    } catch (error: unknown) {
      if (isUnavailable(error) && mayServeElsewhere(error)) servers.leave(server)
      throw error
    }
  }
}

async function exchangeWithServer(
  { origin, exchange }: Server,
  sent: ExchangeRequest,
  gid: string | undefined,
  onServerNow: TransportOptions['onServerNow'],
) {
  const { status, retryAfter, serverNow, text } = await exchange(sent).catch((error: unknown) => {
    // If the caller has aborted, the call rejects with the reason of the caller's signal.
    sent.signal?.throwIfAborted()
    if (error instanceof AnswerTooLargeError) throw toAnswerTooLargeError(error, origin, gid)
    throw new UnavailableError('SAGA_UNREACHABLE', `no answer from ${origin}`, { gid, cause: error })
  })
  if (serverNow !== null && /^\d{1,15}$/.test(serverNow)) onServerNow?.(Number(serverNow))
  const value = parseJson(text)
  if (status < 200 || status > 299) throw toProblemError({ status, value, retryAfter, gid })
  if (value !== undefined) return value
  throw new UnavailableError('SAGA_UNREACHABLE', 'the answer was not JSON', { status, gid })
}

function toServer(url: URL, fetch: typeof globalThis.fetch | undefined): Server {
  return { origin: url.origin, exchange: createExchange(url, fetch) }
}

function createExchange(url: URL, fetch: typeof globalThis.fetch | undefined): Exchange {
  if (fetch !== undefined) return createFetchExchange(url, fetch)
  const node = findNodeHttp(url.protocol)
  return node === undefined ? createFetchExchange(url, globalThis.fetch) : createNodeExchange(url, node)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // An answer that is not JSON does not come from our server. The caller of this function reports the status.
    return undefined
  }
}
