import type { Socket } from 'node:net'

/** A piece of at most this size costs more than its bytes do. */
const TINY_BYTES = 64
/** In a second a connection may bring this many tiny pieces, and one more for each so many bytes that it has brought. */
const TINY_PER_SECOND_MAX = 1_024
const SECOND_MS = 1_000

/**
 * Ends a connection that brings its bytes in too many tiny pieces. Each record of TLS is a piece of its own, and is handed on
 * before the time of reading is measured: a dozen calls to a service with records of one byte kept a server busy for 18 s.
 */
export function boundPieces(socket: Socket): void {
  const push = socket.push
  let tiny = 0
  let bytes = 0
  let countedAt = performance.now()
  socket.push = (chunk: Buffer | null, ...rest) => {
    if (chunk !== null) {
      bytes += chunk.length
      if (chunk.length <= TINY_BYTES) tiny += 1
      if (tiny > TINY_PER_SECOND_MAX + bytes / TINY_BYTES) {
        const now = performance.now()
        if (now - countedAt < SECOND_MS) {
          socket.destroy(new Error('the answer comes in tiny pieces'))
          return false
        }
        countedAt = now
        tiny = 0
        bytes = 0
      }
    }
    return push.call(socket, chunk, ...rest)
  }
}
