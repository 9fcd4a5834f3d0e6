import { BODY_BYTES_MAX, type ErrorCode, InvalidRequestError } from '@counterstep/protocol'
import { parseJson } from '@counterstep/server/json'

/**
 * Returns the copy of a value that would arrive over HTTP: dates are texts in it, and nothing is undefined. Throws an
 * InvalidRequestError where the HTTP API would refuse the value.
 */
export function copyThroughJson(value: unknown): unknown {
  const bytes = Buffer.from(writeJson(value))
  if (bytes.length > BODY_BYTES_MAX)
    throw toRefusal('SAGA_BODY_TOO_LARGE', '', `has more than ${BODY_BYTES_MAX} bytes as JSON`)
  return parseJson(bytes)
}

function writeJson(value: unknown): string {
  let text: string | undefined
  try {
    text = JSON.stringify(value, (key, each: unknown) => {
      if (typeof each === 'bigint') throw toRefusal('SAGA_NUMBER_NOT_EXACT', key, 'is a bigint')
      // JSON.stringify would quietly turn it into null.
      if (typeof each !== 'number' || Number.isFinite(each)) return each
      throw toRefusal('SAGA_NUMBER_NOT_EXACT', key, `is ${each}`)
    })
  } catch (error: unknown) {
    if (error instanceof InvalidRequestError) throw error
    // The error's own text is left out, because it may quote the payload.
    throw toRefusal('SAGA_MALFORMED_JSON', '', 'cannot be written as JSON')
  }
  if (text === undefined) throw toRefusal('SAGA_MALFORMED_JSON', '', 'cannot be written as JSON')
  return text
}

function toRefusal(code: ErrorCode, path: string, message: string): InvalidRequestError {
  return new InvalidRequestError([{ code, path, message }])
}
