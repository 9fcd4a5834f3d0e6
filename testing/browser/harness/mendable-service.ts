import { type LoopbackService, serveOnLoopback } from './serve-on-loopback.ts'

export interface MendableService extends LoopbackService {
  /** Each call is answered 500 until this is called, and 200 from then on. */
  mend(): void
  readonly callsAnswered: number
  /** How often each gid was answered 200. */
  readonly answeredByGid: ReadonlyMap<string, number>
}

/** A URL below this path was never broken. */
export const SOUND_PATH = '/sound'

/** Starts a bank that fails until the test mends it. */
export async function startMendableService(): Promise<MendableService> {
  let isMended = false
  let callsAnswered = 0
  const answeredByGid = new Map<string, number>()
  const service = await serveOnLoopback((asked, answer) => {
    asked.resume()
    const { pathname, searchParams } = new URL(asked.url ?? '/', 'http://bank')
    const isSound = isMended || pathname.startsWith(SOUND_PATH)
    if (isSound) {
      const gid = searchParams.get('gid') ?? ''
      callsAnswered++
      answeredByGid.set(gid, (answeredByGid.get(gid) ?? 0) + 1)
    }
    answer.writeHead(isSound ? 200 : 500, { 'content-type': 'application/json' })
    answer.end(isSound ? '{"ok":true}' : '{"error":"lock wait timeout"}')
  })
  return {
    url: service.url,
    mend: () => {
      isMended = true
    },
    get callsAnswered() {
      return callsAnswered
    },
    answeredByGid,
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  }
}
