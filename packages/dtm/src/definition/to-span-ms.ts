import { refuseOver } from '../wire/answer.ts'

/** Seconds of the wire in milliseconds. Throws for a span that is longer than any that is kept. */
export function spanMs(name: string, seconds: number, maxMs: number): number {
  const ms = seconds * 1_000
  if (ms > maxMs) throw refuseOver(`${name} must not be over ${maxMs / 1_000} seconds`)
  return ms
}
