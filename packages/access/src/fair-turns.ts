import { AsyncResource } from 'node:async_hooks'
import type { IncomingMessage } from 'node:http'
import { type Connection, NO_TURN, pauseReading, resumeReading, type WaitingRequest } from './connection.ts'
import { HolderQueue } from './holder-queue.ts'
import { RecentNames } from './recent-names.ts'
import { toNetwork, toSite } from './to-network.ts'
import { TurnTime } from './turn-time.ts'

/** A connection with this many waiting requests is not read from until fewer wait. */
const WAITING_PER_CONNECTION_MAX = 32
/**
 * One turn reads again from this many paused connections. One read may bring 2,500 requests, which Node parses in 15 to
 * 25 ms.
 */
const RESUMED_PER_TURN_MAX = 1
/** One turn reads from this many connections that are new, and from as many that were paused because a turn took long. */
const STARTED_PER_TURN_MAX = 4
/**
 * A connection that has not passed the gate may have this many waiting requests. Callers without a key ask for a page or for
 * the health, one after the other.
 */
const STRANGER_WAITING_MAX = 16
/** Any other may have this many. One read may bring 1,600, and a few such connections would take all that may wait. */
const KNOWN_WAITING_MAX = 128
/**
 * So many of these connections begin a request in a turn even if there is no time left. A client that pipelines many as
 * soon as it connects shows its key with the first of them.
 */
const STRANGERS_PER_TURN_MIN = 8
/** Requests of connections that have not passed the gate take this part of the number that may wait. */
const SHARE_OF_STRANGERS = 1 / 4
/**
 * After a turn in which many pipelined requests came, this many turns at most read from no connection that is new or paused. Each
 * turn of the loop accepts one new connection, so otherwise new ones would come in as slowly as the flood is read.
 */
const ACCEPTING_TURNS = 16
/**
 * A turn takes this part of its time behind one that has accepted a connection, and begins one request of one stranger at
 * least. More connections are likely to wait for that, and each turn accepts one. The system drops those that are too many,
 * whose callers try again after seconds.
 */
const PART_WHILE_ACCEPTING = 1 / 16
const STRANGERS_PER_ACCEPTING_TURN_MIN = 1
const PER_CONNECTION_WHILE_ACCEPTING = 1
/** Such a turn begins this many requests with a good key. Most of what they cost comes later, when the store has answered. */
const KNOWN_PER_ACCEPTING_TURN_MAX = 2
/** A turn with this many requests beyond the shares of their connections takes about as long as reading for 1 ms. */
const COSTLY_EXCESS = 100
/** So many requests of a connection beyond its share make its site a costly one for this long, and so do as many more. */
const EXCESS_OF_COSTLY = 8
const COSTLY_MS = 10_000
/** A head with more headers than this takes as long as several requests. */
const USUAL_HEADERS_MAX = 32
/** One turn reads from this many new connections of costly sites, behind those of others. Each may take as long as 7 ms. */
const COSTLY_STARTED_PER_TURN_MAX = 1
/** One holder may have this many connections that wait to be read from for the first time. They are read within 2 s. */
const UNREAD_PER_HOLDER_MAX = 128
/**
 * A flood has begun when this many requests have come in one turn beyond the shares of their connections, or after the
 * time of the turn was over. Node parses that many in about 10 ms.
 */
const EXCESS_PER_TURN_MAX = 1_000
/**
 * A request with a good key that waits counts as this many if its body comes in chunks. One read may bring 10,900 of them, which takes
 * 5 to 30 ms and is held as 5 MB until the request begins, so that a fourth one in a turn is a flood.
 */
const LATE_OF_CHUNKED = EXCESS_PER_TURN_MAX / 4
/** While so many of them wait, connections that were paused, or are new in a network without a good key, are read from in one of ACCEPTING_TURNS turns. */
const CHUNKED_WAITING_MAX = 8

export interface FairTurnsOptions {
  /** One turn of the event loop begins this many requests of one connection. */
  readonly perTurnMax: number
  /** One turn of the event loop begins requests for about this long. Those of strangers have a twelfth of it. */
  readonly turnMsMax: number
  /** This many requests beyond the shares of their connections may wait for a later turn, and a quarter as many of strangers'. */
  readonly waitingMax: number
  /** Returns how many bytes of its body may be held for a request that waits. */
  readonly readBodyBytes: (raw: IncomingMessage) => number
  /** Holds the bytes of a request that waits. `release` is called when the request begins. */
  readonly hold: (connection: Connection, bytes: number) => void
  readonly release: (connection: Connection, bytes: number) => void
}

/**
 * Begins a few requests of each connection in one turn of the event loop, and those of all connections for a few
 * milliseconds. One read may hold thousands of pipelined requests, and thousands of connections may each bring one;
 * without this class all of them would be handled before anything else gets its turn. What waits begins by turns of the
 * holders of the connections. A connection that has not passed the gate is a stranger's. It is not read from while its
 * requests wait, so strangers take a bounded part of each turn, however many they are.
 */
export class FairTurns {
  readonly #options: FairTurnsOptions
  readonly #time: TurnTime
  /** They are all that are open and have begun to be read from. */
  readonly #connections = new Set<Connection>()
  /** They have requests that wait, and may begin some. */
  readonly #known = new HolderQueue()
  readonly #strangers = new HolderQueue()
  /** They have begun some that waited in this turn, and have more. */
  readonly #hadTheirTurn = new Set<Connection>()
  #isStrangersTurn = false
  readonly #toResume = new HolderQueue()
  /** They are new, and their networks have lately shown a good key. */
  readonly #toStartFirst = new HolderQueue()
  readonly #toStart = new HolderQueue()
  /** They are new, and their sites are costly ones. */
  readonly #toStartLast = new HolderQueue()
  readonly #costlySites: RecentNames
  readonly #toReadOn = new HolderQueue()
  readonly #new = [this.#toStartFirst, this.#toStart, this.#toStartLast]
  /** All queues of connections that are not read from. */
  readonly #paused = [...this.#new, this.#toResume, this.#toReadOn]
  #excess = 0
  /** So many requests within the shares of connections with a good key have come in this turn after its time was over. */
  #late = 0
  #hasAccepted = false
  /** The turn before has accepted a connection. */
  #isAccepting = false
  #isFlooded = false
  #areStrangersPaused = false
  /** So many connections of strangers have begun a request, or asked to begin one, in this turn. */
  #strangersBegun = 0
  /** So many requests with a good key have begun in this turn. */
  #knownBegun = 0
  #waitingCount = 0
  #waitingOfStrangers = 0
  #waitingInChunks = 0
  #turn = 0
  #isTurnCounted = false
  #acceptingTurns = 0
  /** The last turn that read from connections that were new or paused. */
  #startedInTurn = 0

  constructor(options: FairTurnsOptions, nowMs = () => performance.now()) {
    this.#options = options
    this.#time = new TurnTime(options.turnMsMax, nowMs)
    this.#costlySites = new RecentNames(COSTLY_MS, nowMs)
  }

  /** Those that are open and have begun to be read from. */
  get connections(): ReadonlySet<Connection> {
    return this.#connections
  }

  /** Returns how many requests wait for a later turn. */
  get waitingCount(): number {
    return this.#waitingCount
  }

  /**
   * Begins a request at once or in a later turn, or never if its connection ends before. Returns false if too many
   * requests wait already, or if the request is pipelined, would wait and has a body but its connection has no good key.
   * The connection then has to end.
   */
  begin(connection: Connection, begin: () => void, raw: IncomingMessage): boolean {
    this.#countTurn()
    this.#enterTurn(connection)
    const isStranger = connection.caller === undefined
    if (isStranger) this.#countLargeHead(connection, raw)
    const isOverShare = this.#isOverShare(connection, isStranger)
    if (isOverShare) this.countExcess(connection)
    else if (this.#mayBegin(connection, isStranger)) {
      connection.begunInTurn += 1
      begin()
      return true
    } else this.#countLate(isStranger)
    const request = {
      // It begins in a turn that another request has counted, and keeps its own async context.
      begin: AsyncResource.bind(begin),
      bodyBytes: this.#options.readBodyBytes(raw),
      // One whose connection waits for a session may wait for long, and others shall not wait for it.
      isInChunks:
        !isStranger && connection.sessionsSought === 0 && raw.headers['transfer-encoding'] !== undefined,
      isStranger,
    }
    return this.#add(connection, request, isOverShare)
  }

  /** Begins no request of a connection, and reads nothing of it, until `goOn` is called, as often as this was called. */
  holdForSession(connection: Connection): void {
    connection.sessionsSought += 1
    pauseReading(connection)
  }

  /** Calls `decide` when it is the turn of the connection, before its other requests, or never if the connection ends. */
  goOn(connection: Connection, decide: () => void): void {
    connection.sessionsSought -= 1
    if (connection.socket.destroyed) return
    this.#countTurn()
    const isStranger = connection.caller === undefined
    const begin = AsyncResource.bind(decide)
    const decision = { begin, bodyBytes: 0, isStranger, isDecision: true } as const
    connection.waiting.unshift(decision)
    this.#countWaiting(decision, 1)
    this.#queue(connection)
  }

  /**
   * Reads from a connection that has just opened in a later turn: before others if its network has lately shown a good key, and
   * behind them if its site has lately been costly. Returns false if too many of its holder wait for that already.
   */
  startNew(connection: Connection, hasShownKey = false): boolean {
    this.#hasAccepted = true
    const unread = this.#new.reduce((sum, queue) => sum + queue.count(connection.holder), 0)
    if (unread >= UNREAD_PER_HOLDER_MAX) return false
    const queue = hasShownKey ? this.#toStartFirst : this.#toStart
    this.#pause(connection, this.#costlySites.has(readSite(connection)) ? this.#toStartLast : queue)
    return true
  }

  /** Pauses a connection and reads from it in a later turn. Holders take turns. */
  readLater(connection: Connection): void {
    this.#pause(connection, this.#toReadOn)
  }

  /**
   * Counts requests that are over the share of their connection, or work that costs as much, even if they are refused.
   */
  countExcess(connection: Connection, requests = 1): void {
    const before = connection.excess
    connection.excess += requests
    if (countCosts(connection.excess) > countCosts(before)) this.#costlySites.note(readSite(connection))
    this.#countTurn()
    this.#excess += requests
    this.#pauseIfFlooded()
  }

  #countLargeHead(connection: Connection, { rawHeaders }: IncomingMessage): void {
    const requests = Math.floor(rawHeaders.length / 2 / USUAL_HEADERS_MAX)
    if (requests > 0) this.countExcess(connection, requests)
  }

  #countLate(isStranger: boolean): void {
    if (!isStranger) {
      this.#late += 1
      this.#pauseIfFlooded()
    } else if (!this.#areStrangersPaused) {
      this.#areStrangersPaused = true
      this.#pauseAll(({ caller }) => caller === undefined)
    }
  }

  /** Other connections may be ready to be read in the same turn, each with as many requests. */
  #pauseIfFlooded(): void {
    if (this.#excess + this.#late < EXCESS_PER_TURN_MAX || this.#isFlooded) return
    this.#isFlooded = true
    this.#pauseAll(() => true)
  }

  /** Those that were read from again in this turn go on, so that each gets its turn. */
  #pauseAll(isMeant: (connection: Connection) => boolean): void {
    for (const connection of this.#connections)
      if (isMeant(connection) && connection.resumedInTurn !== this.#turn) this.readLater(connection)
  }

  #pause(connection: Connection, queue: HolderQueue): void {
    if (connection.isPaused === true || connection.socket.destroyed) return
    pauseReading(connection)
    this.#watch(connection)
    queue.add(connection)
    this.#countTurn()
  }

  #countTurn(): void {
    if (this.#isTurnCounted) return
    this.#isTurnCounted = true
    this.#isAccepting = this.#hasAccepted
    this.#hasAccepted = false
    this.#time.start(this.#isAccepting ? PART_WHILE_ACCEPTING : 1)
    setImmediate(this.#endTurn)
  }

  #enterTurn(connection: Connection): void {
    if (connection.turn === this.#turn) return
    if (connection.turn === NO_TURN) this.#watch(connection)
    connection.turn = this.#turn
    connection.begunInTurn = 0
  }

  #mayBegin({ waiting, sessionsSought, begunInTurn }: Connection, isStranger: boolean): boolean {
    if (waiting.length > 0 || sessionsSought > 0) return false
    if (isStranger && begunInTurn === 0) this.#strangersBegun += 1
    const few = this.#isAccepting ? STRANGERS_PER_ACCEPTING_TURN_MIN : STRANGERS_PER_TURN_MIN
    const isOneOfFew = isStranger && begunInTurn === 0 && this.#strangersBegun <= few
    if (!isStranger && !this.#hasRoomForKnown()) return false
    const mayBegin = this.#time.take(isStranger) || isOneOfFew
    if (mayBegin && !isStranger) this.#knownBegun += 1
    return mayBegin
  }

  #hasRoomForKnown(): boolean {
    return !this.#isAccepting || this.#knownBegun < KNOWN_PER_ACCEPTING_TURN_MAX
  }

  /** Behind a request that waits, a stranger has no share. */
  #isOverShare({ begunInTurn, waiting }: Connection, isStranger: boolean): boolean {
    const { perTurnMax } = this.#options
    return isStranger
      ? waiting.length > 0 || begunInTurn >= perTurnMax
      : begunInTurn + waiting.length >= perTurnMax
  }

  #add(connection: Connection, request: WaitingRequest, isOverShare: boolean): boolean {
    const { isStranger, bodyBytes } = request
    if (isOverShare && !this.#hasRoom(isStranger)) return false
    if (connection.waiting.length >= (isStranger ? STRANGER_WAITING_MAX : KNOWN_WAITING_MAX)) return false
    // The key is checked when the request begins. Until then bytes of a body are held for a connection without a good
    // key only if nothing of it waits already.
    if (bodyBytes > 0 && isStranger && isOverShare) return false
    connection.waiting.push(request)
    this.#countWaiting(request, 1)
    this.#queue(connection)
    if (request.isInChunks === true) {
      this.#late += LATE_OF_CHUNKED
      this.#pauseIfFlooded()
    }
    if (bodyBytes > 0) this.#options.hold(connection, bodyBytes)
    if (isStranger) this.readLater(connection)
    // A body is read once its request has begun, and its bytes are counted there.
    const isFull = connection.waiting.length === WAITING_PER_CONNECTION_MAX
    if (isFull) connection.wasFull = true
    if (bodyBytes > 0 || isFull) pauseReading(connection)
    return true
  }

  #hasRoom(isStranger: boolean): boolean {
    const { waitingMax } = this.#options
    return isStranger
      ? this.#waitingOfStrangers < waitingMax * SHARE_OF_STRANGERS
      : this.#waitingCount - this.#waitingOfStrangers < waitingMax
  }

  #countWaiting({ isStranger, isInChunks }: WaitingRequest, change: 1 | -1): void {
    this.#waitingCount += change
    if (isStranger) this.#waitingOfStrangers += change
    if (isInChunks === true) this.#waitingInChunks += change
  }

  #queue(connection: Connection): void {
    if (connection.waiting.length === 0 || connection.sessionsSought > 0) return
    if (connection.servedInTurn === this.#turn) {
      this.#hadTheirTurn.add(connection)
      return
    }
    const queue = connection.caller === undefined ? this.#strangers : this.#known
    queue.add(connection)
  }

  #watch(connection: Connection): void {
    // A connection may have closed before its first request came here.
    if (connection.socket.destroyed || this.#connections.has(connection)) return
    this.#connections.add(connection)
    connection.socket.once('close', () => this.#forget(connection))
  }

  #forget(connection: Connection): void {
    for (const request of connection.waiting) {
      this.#countWaiting(request, -1)
      this.#options.release(connection, request.bodyBytes)
    }
    connection.waiting.length = 0
    this.#connections.delete(connection)
    this.#hadTheirTurn.delete(connection)
    for (const queue of [this.#known, this.#strangers, ...this.#paused]) queue.delete(connection)
  }

  readonly #endTurn = (): void => {
    this.#turn += 1
    this.#isTurnCounted = false
    this.#acceptingTurns =
      this.#excess >= COSTLY_EXCESS ? ACCEPTING_TURNS : Math.max(0, this.#acceptingTurns - 1)
    this.#excess = 0
    this.#late = 0
    this.#isFlooded = false
    this.#areStrangersPaused = false
    this.#strangersBegun = 0
    this.#knownBegun = 0
    this.#resumeSome(this.#toStartFirst, STARTED_PER_TURN_MAX)
    // Callers with a good key may bring as many requests in each turn, without an end.
    const hasWaited = this.#turn - this.#startedInTurn > ACCEPTING_TURNS
    const mayReadMore = this.#acceptingTurns === 0 && this.#waitingInChunks < CHUNKED_WAITING_MAX
    if (mayReadMore || hasWaited) {
      this.#startedInTurn = this.#turn
      this.#resumeSome(this.#toResume, RESUMED_PER_TURN_MAX)
      this.#resumeSome(this.#toStart, STARTED_PER_TURN_MAX)
      this.#resumeSome(this.#toStartLast, COSTLY_STARTED_PER_TURN_MAX)
      this.#resumeSome(this.#toReadOn, STARTED_PER_TURN_MAX)
    }
    for (const connection of this.#hadTheirTurn) this.#queue(connection)
    this.#hadTheirTurn.clear()
    const isMoreToDo = [this.#known, this.#strangers, ...this.#paused].some(({ size }) => size > 0)
    if (isMoreToDo) this.#countTurn()
    this.#beginNext()
  }

  readonly #beginNext = (): void => {
    const connection = this.#takeNext()
    if (connection === undefined) return
    this.#countTurn()
    this.#beginSome(connection)
    queueMicrotask(this.#beginNextLater)
  }

  /** The promises of a request come before the tick, so the time that they take counts, too. */
  readonly #beginNextLater = (): void => process.nextTick(this.#beginNext)

  /** Strangers and others take turns, while there is time for them. */
  #takeNext(): Connection | undefined {
    for (const isStranger of [this.#isStrangersTurn, !this.#isStrangersTurn]) {
      const queue = isStranger ? this.#strangers : this.#known
      if (queue.size === 0 || !(isStranger || this.#hasRoomForKnown()) || !this.#time.take(isStranger))
        continue
      this.#isStrangersTurn = !isStranger
      return queue.shift()
    }
    return undefined
  }

  #beginSome(connection: Connection): void {
    connection.servedInTurn = this.#turn
    const isStranger = connection.caller === undefined
    const max = this.#isAccepting ? PER_CONNECTION_WHILE_ACCEPTING : this.#options.perTurnMax
    for (let begun = 0; begun < max && connection.sessionsSought === 0; begun += 1) {
      const request = connection.waiting.shift()
      if (request === undefined) break
      this.#countWaiting(request, -1)
      if (!isStranger) this.#knownBegun += 1
      if (request.bodyBytes > 0) this.#options.release(connection, request.bodyBytes)
      // Another request of the connection may have been refused.
      const mayBegin = request.isDecision === true || !connection.isRefused
      if (mayBegin && !connection.socket.destroyed) request.begin()
    }
    this.#queue(connection)
    this.#readOnIfPaused(connection)
  }

  #readOnIfPaused(connection: Connection): void {
    if (connection.isPaused !== true || connection.isRefused || connection.sessionsSought > 0) return
    if (this.#toReadOn.has(connection) || this.#new.some((queue) => queue.has(connection))) return
    if (connection.waiting.length >= this.#options.perTurnMax) return
    if (connection.caller === undefined) this.#toReadOn.add(connection)
    else if (connection.wasFull) this.#toResume.add(connection)
    // It brings one request after the other, and only came when the time of its turn was over.
    else if (connection.waiting.length === 0) resumeReading(connection)
  }

  #resumeSome(connections: HolderQueue, max: number): void {
    let resumed = 0
    while (resumed < max) {
      const connection = connections.shift()
      if (connection === undefined) return
      // A connection with waiting requests is queued again when they have begun.
      if (connection.isRefused || connection.waiting.length > 0 || connection.sessionsSought > 0) continue
      // Its site may have become a costly one while it waited.
      const isNew = connections === this.#toStart || connections === this.#toStartFirst
      if (isNew && this.#costlySites.has(readSite(connection))) {
        this.#toStartLast.add(connection)
        continue
      }
      connection.resumedInTurn = this.#turn
      connection.wasFull = false
      resumeReading(connection)
      resumed += 1
    }
  }
}

/** Counts how often a connection with so many requests beyond its share has made its site a costly one. */
function countCosts(excess: number): number {
  return Math.floor(excess / EXCESS_OF_COSTLY)
}

function readSite({ socket }: Connection): string {
  return toSite(toNetwork(socket.remoteAddress ?? ''))
}
