import type { Socket } from 'node:net'
import { errors } from 'undici'
import { findParser } from './field-bound.ts'

/**
 * An answer may have so many bytes that are neither in its fields nor in its body: its first line, the sizes of its chunks, and what
 * the grammar lets stand beside these. Honest services need a few hundred.
 */
const WASTED_BYTES_MAX = 64 * 1024
/** A chunk of one byte comes with as many for its size and the ends of its lines. */
const FRAME_BYTES = 8

/**
 * Ends a connection whose answer goes on without getting on, such as by an extension of a chunk without an end, an endless first line, or
 * empty lines before it. The parser tells nothing of those, so no bound on fields or body ends them, and to read them from some
 * hundred connections took all of the time of the event loop.
 *
 * It relies on the same part of undici as `boundFields`.
 */
export function boundWaste(socket: Socket): void {
  const parser = findParser(socket)
  const { execute, trackHeader, onBody, onMessageComplete } = parser
  let wasted = 0
  let used = 0
  parser.trackHeader = function useField(bytes) {
    used += bytes
    trackHeader.call(parser, bytes)
  }
  parser.onBody = function useBody(bytes) {
    used += bytes.length + FRAME_BYTES
    return onBody.call(parser, bytes)
  }
  parser.onMessageComplete = function beginAnew() {
    wasted = 0
    used = 0
    return onMessageComplete.call(parser)
  }
  parser.execute = function executeBounded(chunk) {
    used = 0
    wasted += chunk.length
    execute.call(parser, chunk)
    wasted = Math.max(0, wasted - used)
    if (wasted > WASTED_BYTES_MAX && !socket.destroyed)
      socket.destroy(new errors.HTTPParserError('the answer does not get on'))
  }
}
