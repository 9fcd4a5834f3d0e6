import type { Attempt, AttemptHost } from './attempt.ts'
import { AttemptQueue } from './attempt-queue.ts'
import { Connection, type ConnectionOwner, type ConnectionParts } from './connection/connection.ts'
import type { DeadlineWheel } from './deadline-wheel.ts'
import { errorWord } from './error-word.ts'

export interface OriginOptions {
  readonly connectionsMax: number
  readonly queuedMax: number
  readonly partsOf: (originKey: string) => ConnectionParts
}

/**
 * One origin's connections, and who waits for one. An attempt whose deadline passes while it waits leaves the queue, and
 * the most recently used connection is found without walking over all of them.
 */
export class Origin implements AttemptHost, ConnectionOwner {
  usedAt = 0
  isClosed = false
  readonly #wheel: DeadlineWheel
  readonly #options: OriginOptions
  readonly #parts: ConnectionParts
  readonly #connections = new Set<Connection>()
  readonly #free: Connection[] = []
  readonly #queue = new AttemptQueue()
  /**
   * Released since the event loop last looked for what has come, and before that. A connection rests until it has been
   * looked at once: a second answer that nobody asked for ends it, in place of being taken for the next call's.
   */
  #unlooked: Connection[] = []
  #looked: Connection[] = []
  #isTurning = false
  #whenEmpty: (() => void) | undefined = undefined

  constructor(key: string, wheel: DeadlineWheel, options: OriginOptions) {
    this.#wheel = wheel
    this.#options = options
    this.#parts = options.partsOf(key)
  }

  get isIdle(): boolean {
    return this.#queue.length === 0 && this.#free.length + this.#resting === this.#connections.size
  }

  start(attempt: Attempt): void {
    attempt.hostedBy(this)
    const free = this.#takeFree()
    if (free !== undefined) carry(free, attempt)
    else if (this.#mayOpen(this.#queue.length + 1)) this.#open(attempt)
    else if (this.#queue.length < this.#options.queuedMax + this.#resting) this.#queue.push(attempt)
    else attempt.onFailed('busy')
  }

  settled(attempt: Attempt): void {
    this.#wheel.remove(attempt)
    if (attempt.isQueued) this.#queue.remove(attempt)
  }

  released(connection: Connection): void {
    this.#unlooked.push(connection)
    if (this.#isTurning) return
    this.#isTurning = true
    setImmediate(() => this.#turn())
  }

  closed(connection: Connection): void {
    this.#connections.delete(connection)
    for (const list of [this.#free, this.#unlooked, this.#looked]) removeFrom(list, connection)
    if (this.#connections.size === 0) this.#whenEmpty?.()
    this.#openForWaiting()
  }

  /** Ends what is in flight or waiting as `closed`. Resolves when no connection stands. */
  async close(): Promise<void> {
    this.isClosed = true
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      next.onFailed('closed')
    }
    if (this.#connections.size === 0) return
    const empty = new Promise<void>((resolve) => {
      this.#whenEmpty = resolve
    })
    for (const connection of this.#connections) connection.end('closed')
    await empty
  }

  get #resting(): number {
    return this.#unlooked.length + this.#looked.length
  }

  /** For this many that wait: those at rest will serve as many of them. */
  #mayOpen(waiting: number): boolean {
    return waiting > this.#resting && this.#connections.size < this.#options.connectionsMax
  }

  #open(attempt: Attempt): void {
    try {
      const connection = new Connection(this, this.#parts, attempt)
      this.#connections.add(connection)
      attempt.goesBy(connection)
    } catch (error: unknown) {
      attempt.onFailed(errorWord(error))
    }
  }

  #openForWaiting(): void {
    while (this.#queue.length > 0 && !this.isClosed && this.#mayOpen(this.#queue.length)) {
      const next = this.#queue.shift()
      if (next !== undefined) this.#open(next)
    }
  }

  #takeFree(): Connection | undefined {
    let free = this.#free.pop()
    while (free !== undefined && !free.isUsableAt(this.usedAt)) free = this.#free.pop()
    return free
  }

  #turn(): void {
    const rested = this.#looked
    this.#looked = this.#unlooked
    this.#unlooked = []
    for (const connection of rested) this.#serveBy(connection)
    this.#isTurning = this.#resting > 0
    if (this.#isTurning) setImmediate(() => this.#turn())
  }

  #serveBy(connection: Connection): void {
    if (!connection.isUsableAt(this.usedAt)) return
    const next = this.#queue.shift()
    if (next === undefined) this.#free.push(connection)
    else carry(connection, next)
  }
}

function carry(connection: Connection, attempt: Attempt): void {
  attempt.goesBy(connection)
  connection.carry(attempt)
}

function removeFrom(list: Connection[], connection: Connection): void {
  const at = list.indexOf(connection)
  if (at >= 0) list.splice(at, 1)
}
