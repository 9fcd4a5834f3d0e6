import type { IncomingMessage, ServerResponse } from 'node:http'

export interface CallRecord {
  count: number
  /** The time from the request's arrival until its answer was out or its connection gone, for each that has ended. */
  readonly openMs: number[]
  /** The most bytes that one connection was given, those still held by the kernel included. */
  sentBytesMax: number
}

const NONE: CallRecord = { count: 0, openMs: [], sentBytesMax: 0 }

/** Records the calls that came to the branches, by gid and op. */
export class BranchCalls {
  readonly #records = new Map<string, CallRecord>()

  watch(request: IncomingMessage, response: ServerResponse): void {
    const { searchParams } = new URL(request.url ?? '/', 'http://branch')
    const record = this.#getRecord(searchParams.get('gid') ?? '', searchParams.get('op') ?? '')
    record.count += 1
    const arrivedAt = performance.now()
    const { socket } = request
    const sentBefore = socket.bytesWritten
    response.once('close', () => {
      record.openMs.push(performance.now() - arrivedAt)
      record.sentBytesMax = Math.max(record.sentBytesMax, socket.bytesWritten - sentBefore)
    })
  }

  of(gid: string, op: string): CallRecord {
    return this.#records.get(`${gid} ${op}`) ?? NONE
  }

  #getRecord(gid: string, op: string): CallRecord {
    const key = `${gid} ${op}`
    const record = this.#records.get(key) ?? { ...NONE, openMs: [] }
    this.#records.set(key, record)
    return record
  }
}
