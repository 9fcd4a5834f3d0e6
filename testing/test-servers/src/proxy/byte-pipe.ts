import type { Socket } from 'node:net'

/** How all lanes of a proxy behave now. */
export interface LaneRule {
  latencyMs: number
  isHeld: boolean
  /** Undefined: what was read at once is written at once. */
  slices: Slices | undefined
}

/** Pieces of so many bytes, one after the other with so long between them. */
export interface Slices {
  readonly bytes: number
  readonly gapMs: number
}

/** Memory for bytes under way, after which the sender is made to wait. */
const QUEUED_BYTES_MAX = 4 * 1024 * 1024

interface Parcel {
  /** Undefined: the sender said its last word. */
  readonly chunk: Buffer | undefined
  readonly dueAt: number
}

/** One direction of one connection: bytes leave in the order in which they came, when they are due and nothing holds them. */
export class ByteLane {
  readonly #from: Socket
  readonly #to: Socket
  readonly #rule: LaneRule
  readonly #queue: Parcel[] = []
  #queuedBytes = 0
  #timer: NodeJS.Timeout | undefined

  constructor(from: Socket, to: Socket, rule: LaneRule) {
    this.#from = from
    this.#to = to
    this.#rule = rule
    to.on('drain', () => this.#letSenderGoOn())
  }

  send(chunk: Buffer | undefined): void {
    const dueAt = performance.now() + this.#rule.latencyMs
    const { slices } = this.#rule
    if (chunk === undefined || slices === undefined) this.#queue.push({ chunk, dueAt })
    else this.#queue.push(...sliced(chunk, slices, dueAt))
    this.#queuedBytes += chunk?.length ?? 0
    if (this.#queuedBytes > QUEUED_BYTES_MAX) this.#from.pause()
    this.move()
  }

  /** To be called when the rule has changed, too. */
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

  /** What is under way is lost. */
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

function sliced(chunk: Buffer, { bytes, gapMs }: Slices, dueAt: number): Parcel[] {
  return Array.from({ length: Math.ceil(chunk.length / bytes) }, (_, index) => ({
    chunk: chunk.subarray(index * bytes, (index + 1) * bytes),
    dueAt: dueAt + index * gapMs,
  }))
}
