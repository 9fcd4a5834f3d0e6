import { type Agent, request as httpRequest } from 'node:http'

/** A request as it goes over the wire. Bytes are written as latin1, so that one which failed prints and replays as it was. */
export interface WireRequest {
  readonly method: string
  readonly target: string
  readonly headers: readonly (readonly [string, string])[]
  /** One character for each byte. */
  readonly body: string
}

export interface WireAnswer {
  readonly status: number
  readonly contentType: string
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: Buffer
  readonly tookMs: number
}

const ANSWER_MS_MAX = 60_000

export function toBytes(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1')
}

/** Rejects when the connection ends without an answer, or none comes within a minute. */
export function sendRequest(url: string, agent: Agent, request: WireRequest): Promise<WireAnswer> {
  const { hostname, port, host } = new URL(url)
  const body = Buffer.from(request.body, 'latin1')
  const hasLength = request.headers.some(([name]) => name.toLowerCase() === 'content-length')
  const length = body.length === 0 || hasLength ? [] : [['content-length', String(body.length)]]
  // A flat list is sent as it is, repeated names included; then Host is ours to give too.
  const headers = [['host', host], ...length, ...request.headers].flat()
  const startedAt = performance.now()
  return new Promise((resolve, reject) => {
    const { method, target } = request
    const signal = AbortSignal.timeout(ANSWER_MS_MAX)
    const sent = httpRequest({ agent, hostname, port, method, path: target, headers, signal }, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.on('error', reject)
      answer.on('end', () =>
        resolve({
          status: answer.statusCode ?? 0,
          contentType: (answer.headers['content-type'] ?? '').split(';', 1)[0] ?? '',
          headers: answer.headers,
          body: Buffer.concat(chunks),
          tookMs: performance.now() - startedAt,
        }),
      )
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

/**
 * Returns the path, of an absolute-form target too. The router takes `*` for `/` and drops a fragment: neither belongs
 * in a target.
 */
export function readPath(target: string): string {
  const path = target === '*' ? '/' : (target.split(/[?#]/, 1)[0] ?? '')
  return path.replace(/^[a-z]+:\/\/[^/]*/i, '')
}
