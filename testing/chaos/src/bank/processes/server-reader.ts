import { setTimeout as delay } from 'node:timers/promises'
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

const TRIES_MAX = 20
const TRY_AGAIN_MS = 500
const UNAVAILABLE = 503

/** Reads again while a server that has just lost its store, or has no time, says nothing or that it is not available. */
export async function readPatiently(read: ReadServer, path: string, limitMs: number): Promise<ReadAnswer> {
  for (let tries = 1; ; tries++) {
    try {
      const answer = await read(path, limitMs)
      if (answer.statusCode !== UNAVAILABLE || tries === TRIES_MAX) return answer
    } catch (error: unknown) {
      if (tries === TRIES_MAX) throw error
    }
    await delay(TRY_AGAIN_MS)
  }
}
