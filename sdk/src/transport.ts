import { UnavailableError } from './errors.ts'
import { problemError } from './problem-error.ts'

export interface Request {
  readonly method: 'GET' | 'POST'
  /** From the base URL, percent-encoded. */
  readonly path: string
  /** JSON text. */
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
  /** For one attempt. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
  /** Named in errors. */
  readonly gid?: string
}

/** Sends a request once and gives the JSON of a 2xx answer. */
export type Transport = (request: Request) => Promise<unknown>

export interface TransportOptions {
  readonly url: URL
  readonly fetch: typeof globalThis.fetch
  readonly headers: Readonly<Record<string, string>>
}

export function createTransport({ url, fetch, headers }: TransportOptions): Transport {
  const base = url.href.replace(/\/$/, '')
  return async function send(request) {
    const { method, path, body, signal, gid } = request
    signal?.throwIfAborted()
    const timeout = AbortSignal.timeout(Math.ceil(request.timeoutMs))
    const init: RequestInit = {
      method,
      redirect: 'manual',
      headers: {
        accept: 'application/json',
        ...headers,
        ...request.headers,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    }
    const answer = await read(fetch, base + path, body === undefined ? init : { ...init, body }, request)
    const { status, retryAfter } = answer
    const value = parsed(answer.text)
    if (status < 200 || status > 299) throw problemError({ status, value, retryAfter, gid })
    if (value !== undefined) return value
    throw new UnavailableError('SAGA_UNREACHABLE', 'the answer was not JSON', { status, gid })
  }
}

interface Answer {
  readonly status: number
  readonly retryAfter: string | null
  readonly text: string
}

async function read(
  fetch: typeof globalThis.fetch,
  url: string,
  init: RequestInit,
  { signal, gid }: Request,
): Promise<Answer> {
  try {
    const response = await fetch(url, init)
    return {
      status: response.status,
      retryAfter: response.headers.get('retry-after'),
      text: await response.text(),
    }
  } catch (error: unknown) {
    // The caller's own signal is the caller's own reason.
    signal?.throwIfAborted()
    throw new UnavailableError('SAGA_UNREACHABLE', `no answer from ${new URL(url).origin}`, {
      gid,
      cause: error,
    })
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Not JSON is not ours; the caller of this says so with the status.
    return undefined
  }
}
