import type { Client } from 'undici'
import type { Attempt, AttemptHost } from './attempt.ts'
import { AttemptQueue } from './attempt-queue.ts'
import type { DeadlineWheel } from './deadline-wheel.ts'

export interface OriginOptions {
  readonly connectionsMax: number
  readonly queuedMax: number
  readonly openClient: (originKey: string) => Client
}

/**
 * One origin's connections, and who waits for one. It stands in place of undici's Pool, for two reasons: an attempt
 * whose deadline passes while it waits leaves the queue (the Pool keeps it, and would open a connection for it), and
 * the most recently used connection is found without walking over all of them.
 */
export class Origin implements AttemptHost {
  usedAt = 0
  isClosed = false
  readonly #key: string
  readonly #wheel: DeadlineWheel
  readonly #options: OriginOptions
  readonly #clients: Client[] = []
  readonly #free: Client[] = []
  readonly #queue = new AttemptQueue()

  constructor(key: string, wheel: DeadlineWheel, options: OriginOptions) {
    this.#key = key
    this.#wheel = wheel
    this.#options = options
  }

  get isIdle(): boolean {
    return this.#free.length === this.#clients.length
  }

  start(attempt: Attempt): void {
    attempt.hostedBy(this)
    const client = this.#free.pop() ?? this.#open()
    if (client !== undefined) attempt.sendOn(client)
    else if (this.#queue.length < this.#options.queuedMax) this.#queue.push(attempt)
    else attempt.giveUp('busy')
  }

  settled(attempt: Attempt): void {
    this.#wheel.remove(attempt)
    if (attempt.isQueued) this.#queue.remove(attempt)
  }

  released(client: Client): void {
    const next = this.isClosed ? undefined : this.#queue.shift()
    if (next === undefined) this.#free.push(client)
    else next.sendOn(client)
  }

  /** Ends what is in flight or waiting as `closed`. */
  async close(): Promise<void> {
    this.isClosed = true
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      next.giveUp('closed')
    }
    await Promise.all(this.#clients.map((client) => client.destroy()))
  }

  #open(): Client | undefined {
    if (this.#clients.length >= this.#options.connectionsMax) return undefined
    const client = this.#options.openClient(this.#key)
    this.#clients.push(client)
    return client
  }
}
