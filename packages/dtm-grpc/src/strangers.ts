import type { Socket } from 'node:net'

/** So many connections may be open without a good key. They are those of health checks, and those whose first call is on its way. */
export const STRANGERS_MAX = 64
/** Such a connection may begin so many calls at once, and as many in each second. */
export const CALLS_PER_SECOND_MAX = 16
/**
 * It may send so many bytes at first, as a client does that begins with TLS, and so many more in each second. The library answers some calls, such as
 * those of a path that is not there, before anything else sees them.
 */
const BYTES_FREE = 16_384
const BYTES_PER_SECOND_MAX = 8_192
const LOOK_EVERY_MS = 250
const SECOND_MS = 1_000

interface Stranger {
  readonly address: string
  /** The calls that it may begin now. */
  callsLeft: number
  /** The bytes that it may send now, and those that it had sent when they were last counted. */
  bytesLeft: number
  bytesSent: number
}

/**
 * Bounds what callers without a key cost. A call over HTTP/2 takes the event loop for a tenth of a millisecond before anything can be
 * refused, and one read of a connection may bring a hundred of them.
 */
export class Strangers {
  /** The oldest comes first. */
  readonly #strangers = new Map<Socket, Stranger>()
  #timer: NodeJS.Timeout | undefined

  /** Counts a new connection of an address, or of a network. If there are too many, the oldest of the address that has the most is ended. */
  add(socket: Socket, address: string): void {
    this.#strangers.set(socket, {
      address,
      callsLeft: CALLS_PER_SECOND_MAX,
      bytesLeft: BYTES_FREE,
      bytesSent: 0,
    })
    if (this.#strangers.size > STRANGERS_MAX) this.#endOne()
    this.#timer ??= setInterval(() => this.#look(), LOOK_EVERY_MS).unref()
  }

  /** A call of the connection has shown a good key, or it has ended. */
  remove(socket: Socket): void {
    this.#strangers.delete(socket)
  }

  /** Counts a call that has shown no good key. Ends the connection, and returns false, if these are too many. */
  countCall(socket: Socket): boolean {
    const stranger = this.#strangers.get(socket)
    if (stranger === undefined) return !socket.destroyed
    stranger.callsLeft -= 1
    if (stranger.callsLeft >= 0) return true
    this.#end(socket)
    return false
  }

  /** Lets each begin calls and send bytes for the time since the last look, and ends those who have sent more. */
  #look(): void {
    const share = LOOK_EVERY_MS / SECOND_MS
    for (const [socket, stranger] of this.#strangers) {
      const { callsLeft, bytesLeft, bytesSent } = stranger
      stranger.callsLeft = Math.min(CALLS_PER_SECOND_MAX, callsLeft + CALLS_PER_SECOND_MAX * share)
      const mayHaveSent = Math.min(BYTES_FREE, bytesLeft + BYTES_PER_SECOND_MAX * share)
      stranger.bytesLeft = mayHaveSent - (socket.bytesRead - bytesSent)
      stranger.bytesSent = socket.bytesRead
      if (stranger.bytesLeft < 0) this.#end(socket)
    }
    if (this.#strangers.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #endOne(): void {
    const counts = new Map<string, number>()
    for (const { address } of this.#strangers.values()) counts.set(address, (counts.get(address) ?? 0) + 1)
    const most = Math.max(...counts.values())
    const oldest = [...this.#strangers].find(([, { address }]) => counts.get(address) === most)
    if (oldest !== undefined) this.#end(oldest[0])
  }

  #end(socket: Socket): void {
    this.#strangers.delete(socket)
    socket.destroy()
  }
}
