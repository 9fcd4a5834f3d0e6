import { Duplex } from 'node:stream'
import { type Handshake, RestingError } from './handshake-rests.ts'
import { HANDSHAKE_BYTES_MAX } from './outgoing-tls.ts'
import type { OriginReads } from './reading-time.ts'

/** One turn reads so many bytes of a connection. They may be a hundred calls, or a thousand small frames. */
const CHUNK_BYTES_MAX = 16 * 1024

type Done = (error?: Error | null) => void

export interface Pace {
  /** The connection has bytes to read, and `readSome` is to be called when it is its turn. */
  readonly onWaiting: () => void
  readonly onClosed: () => void
  /** Hears of bytes before they are passed on. Returns false if they must not be, since the connection has ended. */
  readonly mayRead?: (bytes: number) => boolean
  /**
   * The connection ends for both sides when the other one has ended it, as in HTTP/2. Node would shut down its own side, and then go on to write, which
   * ends the process.
   */
  readonly endsWhole?: boolean
}

/**
 * Passes a connection on to Node's HTTP/2 or TLS, which would read from a socket of its own without end: megabytes in one turn of the event
 * loop. Here the connection waits for a turn before each read.
 */
export class PacedSocket extends Duplex {
  readonly #socket: Duplex
  readonly #pace: Pace
  #isWanted = false
  #hasEnded = false
  /** The connection ends with more bytes than these. */
  bytesLeft = Number.POSITIVE_INFINITY

  constructor(socket: Duplex, pace: Pace) {
    super()
    this.#socket = socket
    this.#pace = pace
    socket.on('readable', () => this.#onReadable())
    socket.once('end', () => {
      this.#hasEnded = true
      if (pace.endsWhole === true) this.#destroyWhenRead()
      else this.push(null)
    })
    // The socket closes itself when it has ended, while what it has brought may still wait here.
    socket.on('error', (error) => {
      if (!this.#hasEnded) this.destroy(error)
    })
    socket.once('close', () => {
      if (!this.#hasEnded) this.destroy()
    })
  }

  readSome(): void {
    const chunk: Buffer | null = this.#socket.read(Math.min(this.#socket.readableLength, CHUNK_BYTES_MAX))
    if (chunk === null || this.#pace.mayRead?.(chunk.length) === false) return
    this.bytesLeft -= chunk.length
    if (this.bytesLeft < 0) {
      this.destroy(Object.assign(new Error('too many bytes'), { code: 'EPROTO' }))
      return
    }
    this.#isWanted = false
    this.push(chunk)
    this.#onReadable()
  }

  override _read(): void {
    this.#isWanted = true
    // A read that is asked for within another would be a part of it, and so on to the end.
    process.nextTick(() => this.#waitForTurn())
  }

  override read(size?: number): unknown {
    const chunk: unknown = super.read(size)
    if (this.#hasEnded && this.#pace.endsWhole === true) process.nextTick(() => this.#destroyWhenRead())
    return chunk
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    this.#socket.write(chunk, done)
  }

  override _writev(chunks: { chunk: Buffer }[], done: Done): void {
    this.#socket.write(Buffer.concat(chunks.map(({ chunk }) => chunk)), done)
  }

  override _final(done: Done): void {
    this.#socket.end(() => done())
  }

  override _destroy(error: Error | null, done: Done): void {
    this.#pace.onClosed()
    this.#socket.destroy()
    done(error)
  }

  #destroyWhenRead(): void {
    if (this.readableLength === 0) this.destroy()
  }

  #onReadable(): void {
    // A socket tells of its end only where it is read when it is empty.
    if (this.#socket.readableLength === 0) this.#socket.read(0)
    else this.#waitForTurn()
  }

  #waitForTurn(): void {
    if (this.#isWanted && this.#socket.readableLength > 0 && !this.destroyed) this.#pace.onWaiting()
  }
}

/** Lets a connection that begins with HTTP/2 be read when there is time for what the service sends. */
export function paceHttp2(socket: Duplex, reads: OriginReads): PacedSocket {
  const paced: PacedSocket = new PacedSocket(socket, {
    onWaiting: () => reads.runInTicks(paced, () => paced.readSome()),
    onClosed: () => reads.forget(paced),
    endsWhole: true,
  })
  return paced
}

/** Does the same for a connection on which TLS begins. It ends if its handshake has too many bytes, or if another one was costly. */
export class HandshakingSocket extends PacedSocket {
  readonly #handshake: Handshake

  constructor(socket: Duplex, reads: OriginReads, handshake: Handshake) {
    super(socket, {
      onWaiting: () =>
        reads.runInTicks(
          this,
          () => this.#readSome(),
          (tookMs) => handshake.addMs(tookMs),
        ),
      onClosed: () => reads.forget(this),
    })
    this.bytesLeft = HANDSHAKE_BYTES_MAX
    this.#handshake = handshake
  }

  /** The handshake is done, and the service is trusted. */
  succeed(): void {
    this.bytesLeft = Number.POSITIVE_INFINITY
    this.#handshake.succeed()
  }

  #readSome(): void {
    if (this.#handshake.mayGoOn) this.readSome()
    else this.destroy(new RestingError())
  }
}
