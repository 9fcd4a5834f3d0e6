import type { Socket } from 'node:net'

/** How all lanes of a proxy behave now. */
export interface LaneRule {
  latencyMs: number
  isHeld: boolean
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
    this.#queue.push({ chunk, dueAt: performance.now() + this.#rule.latencyMs })
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
