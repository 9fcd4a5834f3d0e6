import { gunzipSync, inflateRawSync, inflateSync } from 'node:zlib'
import { readErrorCode } from './error-word.ts'

/**
 * The bytes of a body that came packed although every call says `accept-encoding: identity`. Undefined where they
 * cannot be read: an unknown coding, broken bytes, or more than `bytesMax` of them. It runs at once on the one thread,
 * which is safe because zlib stops at `maxOutputLength`: a bomb that ends at 1 MiB took 0.5 ms.
 *
 * Brotli is not read, as DTM does not read it: its decoder fills a window before it looks at any bound, so that 165
 * bytes took 25 ms.
 */
export function unpackBody(packed: Buffer, coding: string, bytesMax: number): Buffer | undefined {
  // Some servers name a coding and then have nothing to say.
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

/** The coding is named after one format and defined as another (RFC 9110, 8.4.1.2), so servers send either. */
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
