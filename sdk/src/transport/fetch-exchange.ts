import { type Exchange, SERVER_NOW_HEADER } from './exchange.ts'
import { readResponse } from './read-response.ts'

/**
 * Makes an exchange over the caller's own `fetch`, or over the `fetch` of a platform that has no HTTP client of Node.
 */
export function createFetchExchange(url: URL, fetch: typeof globalThis.fetch): Exchange {
  const base = url.href.replace(/\/$/, '')
  return async ({ method, path, body, headers, answerBytesMax, timeoutMs, signal }) => {
    const timeout = AbortSignal.timeout(Math.ceil(timeoutMs))
    const init: RequestInit = {
      method,
      redirect: 'manual',
      headers,
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    }
    const response = await fetch(base + path, body === undefined ? init : { ...init, body })
    return {
      status: response.status,
      retryAfter: response.headers.get('retry-after'),
      serverNow: response.headers.get(SERVER_NOW_HEADER),
      text: await readResponse(response, answerBytesMax),
    }
  }
}
