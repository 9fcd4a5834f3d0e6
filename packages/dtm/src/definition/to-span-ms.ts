import { refuseUnprocessable } from '../wire/answer.ts'

/** Converts a request's seconds to milliseconds. Throws for a span that is longer than a store can keep. */
export function toSpanMs(name: string, seconds: number, maxMs: number): number {
  const ms = seconds * 1_000
  if (ms > maxMs) throw refuseUnprocessable(`${name} must not be over ${maxMs / 1_000} seconds`)
  return ms
}
