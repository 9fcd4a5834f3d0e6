import type { OpView } from '@counterstep/protocol'

/** Reads how the last attempt of an op ended: a status code or an error word. */
export function readOutcome({ error, statusCode, runs }: OpView): string {
  return error ?? (statusCode === undefined ? (runs?.at(-1)?.outcome ?? 'other') : String(statusCode))
}
