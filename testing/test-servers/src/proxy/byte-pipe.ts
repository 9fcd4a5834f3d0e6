import type { Socket } from 'node:net'

/** The present behaviour of all pipes of a proxy. */
export interface PipeRule {
  latencyMs: number
  isHeld: boolean
  /** If it is undefined, the bytes of one read are written at once. */
  slices: Slices | undefined
}

/** The bytes arrive in pieces of this size, one after the other with this gap. */
export interface Slices {
  readonly bytes: number
  readonly gapMs: number
}

/** Bounds the memory for bytes under way. With more of them the sender has to wait. */
const QUEUED_BYTES_MAX = 4 * 1024 * 1024

interface Parcel {
  /** It is undefined for the end of the sender's stream. */
  readonly chunk: Buffer | undefined
  readonly dueAt: number
}

/** One direction of one connection. Bytes leave in the order in which they came, when they are due and are not held back. */
export class BytePipe {
  readonly #from: Socket
  readonly #to: Socket
  readonly #rule: PipeRule
  readonly #queue: Parcel[] = []
  #queuedBytes = 0
  #timer: NodeJS.Timeout | undefined

  constructor(from: Socket, to: Socket, rule: PipeRule) {
    this.#from = from
    this.#to = to
    this.#rule = rule
    to.on('drain', () => this.#letSenderGoOn())
  }

  send(chunk: Buffer | undefined): void {
    const dueAt = performance.now() + this.#rule.latencyMs
    const { slices } = this.#rule
    if (chunk === undefined || slices === undefined) this.#queue.push({ chunk, dueAt })
    else this.#queue.push(...slice(chunk, slices, dueAt))
    this.#queuedBytes += chunk?.length ?? 0
    if (this.#queuedBytes > QUEUED_BYTES_MAX) this.#from.pause()
    this.move()
  }

  /** Delivers the due bytes. It is also called after a change of the rule. */
  move(): void {
    clearTimeout(this.#timer)
    while (!this.#rule.isHeld) {
      const first = this.#queue[0]
      if (first === undefined) break
      const waitMs = first.dueAt - performance.now()
      if (waitMs > 0) {
        this.#timer = setTimeout(() => this.move(), waitMs)
        return
      }
      this.#queue.shift()
      this.#deliver(first.chunk)
    }
    this.#letSenderGoOn()
  }

  /** Drops the bytes under way. */
  drop(): void {
    clearTimeout(this.#timer)
    this.#queue.length = 0
    this.#queuedBytes = 0
  }

  #deliver(chunk: Buffer | undefined): void {
    if (chunk === undefined) {
      this.#to.end()
      return
    }
    this.#queuedBytes -= chunk.length
    if (this.#to.writable && !this.#to.write(chunk)) this.#from.pause()
  }

  #letSenderGoOn(): void {
    if (this.#queuedBytes <= QUEUED_BYTES_MAX && !this.#to.writableNeedDrain) this.#from.resume()
  }
}

function slice(chunk: Buffer, { bytes, gapMs }: Slices, dueAt: number): Parcel[] {
  return Array.from({ length: Math.ceil(chunk.length / bytes) }, (_, index) => ({
    chunk: chunk.subarray(index * bytes, (index + 1) * bytes),
    dueAt: dueAt + index * gapMs,
  }))
}
