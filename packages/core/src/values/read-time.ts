/** Reads the times that a wait may be given as a value: a number of milliseconds, or an instant. */
import { WAIT_END_MS_MAX } from '@counterstep/protocol'

const DIGITS = /^\d{1,16}$/
/** No date is later. */
const INSTANT_MAX = 8_640_000_000_000_000
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
  const at = DIGITS.test(text) ? Number(text) : isDateTime(text) ? Date.parse(text) : Number.NaN
  return Number.isInteger(at) && at >= 0 && at <= INSTANT_MAX ? at : undefined
}

/** Date.parse takes February 30 for a day in March. */
function isDateTime(text: string): boolean {
  if (!DATE_TIME.test(text)) return false
  const [year = 0, month = 0, day = 0] = text.slice(0, 10).split('-').map(Number)
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  const daysMax = month === 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31
  return day <= daysMax
}
