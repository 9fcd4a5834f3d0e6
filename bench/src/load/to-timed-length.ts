import type { Settings } from '../settings.ts'
import type { TimedLength } from './load-job.ts'

/** One round of a run with these settings. */
export function toTimedLength({
  warmUpSeconds,
  seconds,
}: Pick<Settings, 'warmUpSeconds' | 'seconds'>): TimedLength {
  return { type: 'time', warmUpSeconds, seconds }
}
