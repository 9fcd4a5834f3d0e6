import { gunzipSync, inflateRawSync, inflateSync } from 'node:zlib'
import { readErrorCode } from './error-word.ts'

/**
 * Unpacks a body that came packed although every call says `accept-encoding: identity`. Returns undefined if the
 * coding is unknown, the bytes are broken, or there are more than `bytesMax` of them. It blocks the thread, which is
 * safe because zlib stops at `maxOutputLength`: a small body that would unpack to very many bytes took 0.5 ms to stop
 * at 1 MiB.
 *
 * Brotli is not read, and DTM does not read it either. Its decoder fills a window before it checks any bound, so that 165
 * bytes took 25 ms.
 */
export function unpackBody(packed: Buffer, coding: string, bytesMax: number): Buffer | undefined {
  // Some servers name a coding and send an empty body.
  if (packed.length === 0) return packed
  try {
    switch (coding) {
      case 'gzip':
      case 'x-gzip':
        return gunzipSync(packed, { maxOutputLength: bytesMax })
      case 'deflate':
        return inflate(packed, bytesMax)
      default:
        return undefined
    }
  } catch (error: unknown) {
    if (isUnreadable(error)) return undefined
    throw error
  }
}

/** `deflate` is the name of one format and is defined as another (RFC 9110, 8.4.1.2), so that servers send either. */
function inflate(packed: Buffer, bytesMax: number): Buffer {
  const options = { maxOutputLength: bytesMax }
  try {
    return inflateSync(packed, options)
  } catch (error: unknown) {
    if (readErrorCode(error) !== 'Z_DATA_ERROR') throw error
    return inflateRawSync(packed, options)
  }
}

function isUnreadable(error: unknown): boolean {
  const code = readErrorCode(error)
  return code === 'ERR_BUFFER_TOO_LARGE' || code?.startsWith('Z_') === true
}
