import type { KeyReader } from '../api-key.ts'
import type { ServerUrls } from '../transport/server-urls.ts'

/** The server sends a comment each 15 s. A stream that is silent for longer than this has lost its connection. */
export const SILENCE_MS_MAX = 45_000

export interface LiveOptions {
  readonly urls: ServerUrls
  readonly fetch: typeof globalThis.fetch
  readonly readApiKey: KeyReader
  readonly headers: Readonly<Record<string, string>>
}

/** `absent`: this server has no stream, and will have none. `refused`: it has none now. */
export type OpenedStream = ReadableStream<Uint8Array> | 'absent' | 'refused'

export type LiveOpener = (path: string, signal: AbortSignal) => Promise<OpenedStream>

/** Makes what opens streams. A server that cannot be reached is passed over, as for other calls. */
export function createLiveOpener({ urls, fetch, readApiKey, headers }: LiveOptions): LiveOpener {
  return async function open(path, signal) {
    const key = readApiKey === undefined ? undefined : await readApiKey()
    const authorization = key === undefined ? {} : { authorization: `Bearer ${key}` }
    for (const url of urls) {
      const response = await fetch(url.href.replace(/\/$/, '') + path, {
        headers: { ...headers, ...authorization, accept: 'text/event-stream' },
        redirect: 'manual',
        signal,
      }).catch((error: unknown) => (signal.aborted ? Promise.reject(error) : undefined))
      if (response !== undefined) return readOpened(response)
    }
    return 'refused'
  }
}

function readOpened({ status, headers, body }: Response): OpenedStream {
  const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true
  if (status === 200 && isStream && typeof body?.getReader === 'function') return body
  void body?.cancel().catch(() => undefined)
  return status === 429 || status >= 500 ? 'refused' : 'absent'
}
