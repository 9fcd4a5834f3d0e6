import type { Socket } from 'node:net'
import type { DeadlineWheel, WheelEntry } from '../deadline-wheel.ts'
import { type ErrorWord, errorWord } from '../error-word.ts'
import type { RequestText } from '../request-text.ts'
import type { Peer } from './dial.ts'
import type { GuardedDial } from './guarded-dial.ts'
import { type ReaderLimits, type ResponseListener, ResponseReader } from './response-reader.ts'

/** One request and its response. */
export interface Exchange extends ResponseListener {
  /** Its caller has been told: nothing is to be sent for it any more. */
  readonly isSettled: boolean
  /** Asked once, when the connection stands. Throws what `errorWord` knows. */
  request(): RequestText
  /** The response is whole; or its body is over the bound, and was not read on. */
  onEnd(how: 'whole' | 'cut'): void
  onFailed(word: ErrorWord): void
}

/** Who owns a connection. */
export interface ConnectionOwner {
  /** It is free for another exchange. */
  released(connection: Connection): void
  /** It is gone. */
  closed(connection: Connection): void
}

/** The last one with a peer: the next connection goes on with it. */
export interface TlsSession {
  latest: Buffer | undefined
}

/** What the connections to one origin share. */
export interface ConnectionParts extends ReaderLimits {
  readonly peer: Peer
  readonly dial: GuardedDial
  /** For the time to connect, and for idle ones: it does not hold the process. */
  readonly wheel: DeadlineWheel
  readonly connectTimeoutMs: number
  readonly keepAliveMs: number
  readonly tls: TlsSession
}

/** Usual answers are far shorter; longer ones come in several reads. */
const READ_BYTES = 8 * 1024
/** It takes us so long to hear that the other side has closed what we took for open. */
const KEEP_ALIVE_MARGIN_MS = 1_000

/**
 * A connection that carries one exchange at a time, over TCP or TLS, by HTTP/1.1. It is made once: when it has ended it
 * is not opened again. Bytes that nobody asked for end it, as does all that is not strictly an answer.
 */
export class Connection implements WheelEntry {
  deadlineAt = 0
  wheelSlot = -1
  wheelPlace = 0
  readonly #owner: ConnectionOwner
  readonly #parts: ConnectionParts
  readonly #reader: ResponseReader
  readonly #socket: Socket
  #exchange: Exchange | undefined
  #isReady = false
  #isOpen = true

  /** Throws what the dial throws. */
  constructor(owner: ConnectionOwner, parts: ConnectionParts, exchange: Exchange) {
    this.#owner = owner
    this.#parts = parts
    this.#exchange = exchange
    this.#reader = new ResponseReader(parts)
    const buffer = Buffer.allocUnsafeSlow(READ_BYTES)
    const onread = { buffer, callback: (count: number) => this.#onRead(buffer, count) }
    this.#socket = parts.dial({ ...parts.peer, onread, session: parts.tls.latest })
    this.#listen(this.#socket)
    parts.wheel.add(this, performance.now(), parts.connectTimeoutMs)
  }

  /** Whether a released one may be used again; if not, it ends. `now` is by performance.now(). */
  isUsableAt(now: number): boolean {
    // A response before its request was written whole says that the rest is not read. An idle one may be overdue after
    // the process has been frozen.
    if (this.#socket.writableLength > 0 || this.deadlineAt <= now) this.end('closed')
    return this.#isOpen
  }

  /** Only on one that was released. */
  carry(exchange: Exchange): void {
    this.#parts.wheel.remove(this)
    this.#exchange = exchange
    this.#send(exchange)
  }

  /** Ends it, and with `word` what it carries. */
  end(word: ErrorWord): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#parts.wheel.remove(this)
    const exchange = this.#exchange
    this.#exchange = undefined
    this.#socket.destroy()
    exchange?.onFailed(word)
  }

  /** It does not stand in time; or it has been idle for long, and carries nothing that could hear the word. */
  expire(): void {
    this.end('connect-timeout')
  }

  #listen(socket: Socket): void {
    socket.once(this.#parts.peer.isTls ? 'secureConnect' : 'connect', () => this.#onReady())
    socket.on('session', (session: Buffer) => {
      this.#parts.tls.latest = session
    })
    socket.on('error', (error) => this.end(errorWord(error)))
    socket.on('end', () => this.#onEnd())
    socket.on('close', () => {
      this.end('reset')
      this.#owner.closed(this)
    })
  }

  #onReady(): void {
    // What the dial denies is destroyed before, and hears of its connection all the same.
    if (!this.#isOpen || this.#socket.destroyed) return
    this.#isReady = true
    // A call under way holds the process by its deadline; an idle connection does not.
    this.#socket.unref()
    this.#parts.wheel.remove(this)
    const exchange = this.#exchange
    if (exchange === undefined || exchange.isSettled) this.#release()
    else this.#send(exchange)
  }

  #send(exchange: Exchange): void {
    let text: RequestText
    try {
      text = exchange.request()
    } catch (error: unknown) {
      this.#exchange = undefined
      exchange.onFailed(errorWord(error))
      this.#release()
      return
    }
    this.#reader.begin(exchange)
    const { head, isHeadAscii, body, isBodyAscii } = text
    if (isBodyAscii) {
      this.#socket.write(head + body, 'latin1')
    } else if (isHeadAscii) {
      this.#socket.write(head + body)
    } else {
      this.#socket.cork()
      this.#socket.write(head, 'latin1')
      this.#socket.write(body)
      this.#socket.uncork()
    }
  }

  /** Answers whether to go on reading. */
  #onRead(buffer: Buffer, count: number): boolean {
    const exchange = this.#exchange
    if (exchange === undefined || !this.#isReady) {
      this.end('bad-response')
      return false
    }
    try {
      this.#read(exchange, buffer, count)
    } catch (error: unknown) {
      this.end(errorWord(error))
    }
    return this.#isOpen
  }

  #read(exchange: Exchange, buffer: Buffer, count: number): void {
    const read = this.#reader.read(buffer, count)
    const { reading } = this.#reader
    if (reading === 'more') return
    if (reading !== 'whole' && reading !== 'cut') {
      this.end(reading)
      return
    }
    this.#exchange = undefined
    exchange.onEnd(reading)
    if (reading === 'whole' && read === count && this.#keptMs() > 0) this.#release()
    else this.end('closed')
  }

  #onEnd(): void {
    const exchange = this.#exchange
    if (exchange !== undefined && this.#isReady && this.#reader.endsWhole()) {
      this.#exchange = undefined
      exchange.onEnd('whole')
    }
    this.end('reset')
  }

  #release(): void {
    this.#exchange = undefined
    this.#parts.wheel.add(this, performance.now(), this.#keptMs())
    this.#owner.released(this)
  }

  /** How long it may be idle after what it carried last; 0: it is not used again. */
  #keptMs(): number {
    const { keepAliveMs } = this.#parts
    const head = this.#reader.head
    if (head === undefined) return keepAliveMs
    if (head.isLast) return 0
    return Math.min(keepAliveMs, Math.max(0, (head.keepAliveMs ?? Infinity) - KEEP_ALIVE_MARGIN_MS))
  }
}
