import { BODY_BYTES_MAX } from '@counterstep/protocol'
import { type Connection, WASTED_BYTES_MAX } from './connection.ts'

/** A chunk of one byte comes with several for its size and the ends of its lines. */
const CHUNKED_BYTES_MAX = 8 * BODY_BYTES_MAX
const LOOK_EVERY_MS = 50

/**
 * Ends connections that bring bytes which belong to no request, such as empty lines without an end, or the size of a chunk. Node's
 * parser tells nothing of those, and they count for none of its bounds, though hundreds of such connections took all of the
 * time of the event loop. Nothing calls our code for them, so all connections are looked at now and then.
 */
export class WastedBytes {
  readonly #connections: ReadonlySet<Connection>
  readonly #end: (connection: Connection) => void
  #timer: NodeJS.Timeout | undefined

  constructor(connections: ReadonlySet<Connection>, end: (connection: Connection) => void) {
    this.#connections = connections
    this.#end = end
  }

  /** Is called for each new connection. */
  watch(): void {
    this.#timer ??= setTimeout(() => this.#look(), LOOK_EVERY_MS).unref()
  }

  /** A request has begun that announces a body of so many bytes, which may be infinite. */
  allow(connection: Connection, announcedBytes: number): void {
    const bodyBytes =
      announcedBytes === Number.POSITIVE_INFINITY
        ? CHUNKED_BYTES_MAX
        : Math.min(announcedBytes, BODY_BYTES_MAX)
    connection.bytesReadMax = connection.socket.bytesRead + WASTED_BYTES_MAX + bodyBytes
  }

  #look(): void {
    this.#timer = undefined
    for (const connection of this.#connections)
      if (connection.socket.bytesRead > connection.bytesReadMax) this.#end(connection)
    if (this.#connections.size > 0) this.watch()
  }
}
