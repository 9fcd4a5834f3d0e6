import type { NameView } from '@counterstep/protocol'
import { sumMinutes } from '../overview/sum-minutes.ts'

const HOUR_MS = 3_600_000
/** A memory that is younger than this tells a rate of this time. */
const RATE_MS_MIN = 60_000

/** Sums the minutes of a name, and says how many were accepted a second since the memory began, at most in the last hour. */
export function summarizeName({ minutes }: NameView, asOf: number, since: number) {
  const sums = sumMinutes(minutes)
  const ms = Math.min(HOUR_MS, Math.max(RATE_MS_MIN, asOf - since))
  return { ...sums, perSecond: sums.accepted / (ms / 1_000) }
}
