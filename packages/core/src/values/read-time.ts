/** Reads the times that a wait may be given as a value: a number of milliseconds, or an instant. */
import { WAIT_END_MS_MAX } from '@counterstep/protocol'

const DIGITS = /^\d{1,16}$/
/** A date and time of RFC 3339. Without an offset it would mean another instant in each time zone. */
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/i

/** Returns undefined if the text is no whole number of milliseconds that a wait may take. */
export function readWaitMs(text: string): number | undefined {
  const ms = DIGITS.test(text) ? Number(text) : Number.NaN
  return ms <= WAIT_END_MS_MAX ? ms : undefined
}

/** Reads epoch milliseconds, or a date and time. Returns undefined for any other text. */
export function readInstant(text: string): number | undefined {
  // biome-ignore lint/style/noRestrictedGlobals: Date.parse reads a text and no clock.
  const at = DIGITS.test(text) ? Number(text) : DATE_TIME.test(text) ? Date.parse(text) : Number.NaN
  return Number.isSafeInteger(at) && at >= 0 ? at : undefined
}
