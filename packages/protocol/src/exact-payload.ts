import type { JsonValue } from './wire.ts'

/**
 * Reads a text as a payload that would be sent as the same text again. It is undefined where that is not so, as for a number of more
 * than 53 bits or for a text that is no JSON: then the content is given as it is.
 */
export function toExactPayload(text: string): JsonValue | undefined {
  try {
    const payload = JSON.parse(text) as JsonValue
    return JSON.stringify(payload) === text ? payload : undefined
  } catch {
    // It is a text that only says that it is JSON.
    return undefined
  }
}
