import type { IncomingMessage } from 'node:http'
import { type Connection, pauseReading, resumeReading, type WaitingRequest } from './connection.ts'
import { HolderQueue } from './holder-queue.ts'

/** A connection with this many waiting requests is not read from until fewer wait. */
const WAITING_PER_CONNECTION_MAX = 32
/**
 * One turn reads again from this many paused connections. One read may bring 2,500 requests, which Node parses in 15 to
 * 25 ms.
 */
const RESUMED_PER_TURN_MAX = 1
/** One turn reads from this many connections that are new, or that a flood has paused. */
const STARTED_PER_TURN_MAX = 4
/**
 * A connection that has not passed the gate may have this many waiting requests. Callers without a key ask for a page or for
 * the health, one after the other.
 */
const STRANGER_WAITING_MAX = 16
/**
 * After a turn in which many pipelined requests came, this many turns read from no connection that is new or paused. Each turn
 * of the loop accepts one new connection, so otherwise new ones would come in as slowly as the flood is read.
 */
const ACCEPTING_TURNS = 16
/** A turn with this many requests beyond the shares of their connections takes about as long as reading for 1 ms. */
const COSTLY_EXCESS = 100
/** One holder may have this many connections that wait to be read from for the first time. They are read within 2 s. */
const UNREAD_PER_HOLDER_MAX = 128
/**
 * A flood has begun when this many requests have come in one turn beyond the shares of their connections. Node parses
 * that many in about 10 ms.
 */
const EXCESS_PER_TURN_MAX = 1_000

export interface FairTurnsOptions {
  /** One turn of the event loop begins this many requests of one connection. */
  readonly perTurnMax: number
  /** This many requests in all may wait for a later turn. */
  readonly waitingMax: number
  /**
   * This is called when many requests have come in this turn beyond the shares of their connections, and more may come.
   */
  readonly onFlood: () => void
  /** Returns how many bytes of its body may be held for a request that waits. */
  readonly readBodyBytes: (raw: IncomingMessage) => number
  /** Holds the bytes of a request that waits. `release` is called when the request begins. */
  readonly hold: (connection: Connection, bytes: number) => void
  readonly release: (connection: Connection, bytes: number) => void
}

/**
 * Begins a few requests of each connection in one turn of the event loop. One read may hold thousands of pipelined
 * requests; without this class all of them would be handled before any other connection gets its turn.
 */
export class FairTurns {
  readonly #options: FairTurnsOptions
  readonly #waiting = new Set<Connection>()
  /** Each of these connections already has a listener that forgets it when it closes. */
  readonly #watched = new WeakSet<Connection>()
  readonly #toResume = new HolderQueue()
  readonly #toStart = new HolderQueue()
  #excess = 0
  #isFlooded = false
  #waitingCount = 0
  #turn = 0
  #isTurnCounted = false
  #acceptingTurns = 0

  constructor(options: FairTurnsOptions) {
    this.#options = options
  }

  /** Returns how many requests wait for a later turn. */
  get waitingCount(): number {
    return this.#waitingCount
  }

  /**
   * Begins a request at once or in a later turn, or never if its connection ends before. Returns false if too many
   * requests wait already, or if the request would wait and has a body but its connection has no good key. The
   * connection then has to end.
   */
  begin(connection: Connection, begin: () => void, raw: IncomingMessage): boolean {
    this.#countTurn()
    if (connection.turn !== this.#turn) {
      connection.turn = this.#turn
      connection.begunInTurn = 0
    }
    if (connection.begunInTurn >= this.#options.perTurnMax || connection.waiting.length > 0)
      return this.#add(connection, { begin, bodyBytes: this.#options.readBodyBytes(raw) })
    connection.begunInTurn += 1
    begin()
    return true
  }

  /** Pauses a connection and reads from it in a later turn, unless it was read from again in this turn. */
  pauseInFlood(connection: Connection): void {
    if (connection.resumedInTurn !== this.#turn) this.startLater(connection)
  }

  /** Reads from a connection that has just opened in a later turn. Returns false if too many of its holder wait for that already. */
  startNew(connection: Connection): boolean {
    if (this.#toStart.count(connection.holder) >= UNREAD_PER_HOLDER_MAX) return false
    this.startLater(connection)
    return true
  }

  /** Pauses a connection and reads from it in a later turn. Holders take turns. */
  startLater(connection: Connection): void {
    if (connection.isPaused === true || connection.socket.destroyed) return
    pauseReading(connection)
    this.#watch(connection)
    this.#toStart.add(connection)
    this.#countTurn()
  }

  /**
   * Counts requests that are over the share of their connection, or work that costs as much, even if they are refused.
   */
  countExcess(requests = 1): void {
    this.#countTurn()
    this.#excess += requests
    if (this.#excess < EXCESS_PER_TURN_MAX || this.#isFlooded) return
    this.#isFlooded = true
    this.#options.onFlood()
  }

  #countTurn(): void {
    if (this.#isTurnCounted) return
    this.#isTurnCounted = true
    setImmediate(this.#endTurn)
  }

  #add(connection: Connection, request: WaitingRequest): boolean {
    this.countExcess()
    if (this.#waitingCount >= this.#options.waitingMax) return false
    if (connection.caller === undefined && connection.waiting.length >= STRANGER_WAITING_MAX) return false
    // The key is checked when the request begins. Until then no bytes of a body are held for a connection without a
    // good key.
    if (request.bodyBytes > 0 && connection.caller === undefined) return false
    this.#watch(connection)
    this.#waiting.add(connection)
    connection.waiting.push(request)
    this.#waitingCount += 1
    if (request.bodyBytes > 0) this.#options.hold(connection, request.bodyBytes)
    // A body is read once its request has begun, and its bytes are counted there.
    if (request.bodyBytes > 0 || connection.waiting.length === WAITING_PER_CONNECTION_MAX)
      pauseReading(connection)
    return true
  }

  #watch(connection: Connection): void {
    if (this.#watched.has(connection)) return
    this.#watched.add(connection)
    connection.socket.once('close', () => this.#forget(connection))
  }

  #forget(connection: Connection): void {
    this.#waitingCount -= connection.waiting.length
    for (const { bodyBytes } of connection.waiting) this.#options.release(connection, bodyBytes)
    connection.waiting.length = 0
    this.#waiting.delete(connection)
    this.#toResume.delete(connection)
    this.#toStart.delete(connection)
  }

  readonly #endTurn = (): void => {
    this.#turn += 1
    this.#isTurnCounted = false
    this.#acceptingTurns =
      this.#excess >= COSTLY_EXCESS ? ACCEPTING_TURNS : Math.max(0, this.#acceptingTurns - 1)
    this.#excess = 0
    this.#isFlooded = false
    if (this.#acceptingTurns === 0) {
      this.#resumeSome(this.#toResume, RESUMED_PER_TURN_MAX)
      this.#resumeSome(this.#toStart, STARTED_PER_TURN_MAX)
    }
    for (const connection of this.#waiting) this.#beginSome(connection)
    if (this.#toResume.size > 0 || this.#toStart.size > 0) this.#countTurn()
  }

  #beginSome(connection: Connection): void {
    this.#countTurn()
    const requests = connection.waiting.splice(0, this.#options.perTurnMax)
    this.#waitingCount -= requests.length
    connection.turn = this.#turn
    connection.begunInTurn = requests.length
    if (connection.waiting.length === 0) this.#waiting.delete(connection)
    for (const { begin, bodyBytes } of requests) {
      if (bodyBytes > 0) this.#options.release(connection, bodyBytes)
      // An earlier request may have been refused.
      if (!connection.isRefused && !connection.socket.destroyed) begin()
    }
    if (
      connection.isPaused === true &&
      !this.#toStart.has(connection) &&
      !connection.isRefused &&
      connection.waiting.length < this.#options.perTurnMax
    )
      this.#toResume.add(connection)
  }

  #resumeSome(connections: HolderQueue, max: number): void {
    let resumed = 0
    while (resumed < max) {
      const connection = connections.shift()
      if (connection === undefined) return
      // A connection with waiting requests is queued again when they have begun.
      if (connection.isRefused || connection.waiting.length > 0) continue
      connection.resumedInTurn = this.#turn
      resumeReading(connection)
      resumed += 1
    }
  }
}
