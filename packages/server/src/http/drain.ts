import type { IncomingMessage } from 'node:http'
import { CHUNK_OVERHEAD_BYTES } from '@counterstep/access'

const DRAINED_BYTES_MAX = 16 * 1024 * 1024
const DRAIN_MS_MAX = 2_000

/**
 * Reads and drops the rest of a request, then calls `done`. An immediate answer would end the connection while the
 * caller still sends, and the caller would see a broken pipe instead of the answer. The rest is bounded in bytes and
 * time.
 */
export function drain(request: IncomingMessage, done: () => void): void {
  let drainedBytes = 0
  const finish = () => {
    clearTimeout(timer)
    request.off('data', count).off('end', finish).off('close', finish)
    done()
  }
  const count = (chunk: Buffer) => {
    drainedBytes += chunk.length + CHUNK_OVERHEAD_BYTES
    if (drainedBytes > DRAINED_BYTES_MAX) finish()
  }
  const timer = setTimeout(finish, DRAIN_MS_MAX)
  if (request.readableEnded || request.destroyed || readAnnouncedBytes(request) > DRAINED_BYTES_MAX) {
    finish()
    return
  }
  request.on('data', count).on('end', finish).on('close', finish).resume()
}

function readAnnouncedBytes(request: IncomingMessage): number {
  return Number(request.headers['content-length'] ?? 0)
}
