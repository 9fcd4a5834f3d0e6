import type { SecretWatch } from '@counterstep/test-servers/secret-watch'
import { AUTHORIZED } from './api-key.ts'

export interface ReadAnswer {
  readonly statusCode: number
  readonly text: string
}

/** Reads a page of a server within a time, or throws. */
export type ReadServer = (path: string, limitMs: number) => Promise<ReadAnswer>

/** Past the proxies, and past no secret: what is answered is looked at for them. */
export function serverReader(url: string, watch: SecretWatch): ReadServer {
  return async (path, limitMs) => {
    const response = await fetch(url + path, { headers: AUTHORIZED, signal: AbortSignal.timeout(limitMs) })
    const text = await response.text()
    watch.hear(`answers to GET ${path.split('?', 1)[0]}`, JSON.stringify([...response.headers]) + text)
    return { statusCode: response.status, text }
  }
}
