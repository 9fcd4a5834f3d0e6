import type { EndedMinute } from '@counterstep/protocol'

export function sumMinutes(minutes: readonly EndedMinute[]): Omit<EndedMinute, 'at'> {
  const sum = { accepted: 0, succeeded: 0, failed: 0, stopped: 0 }
  for (const { accepted, succeeded, failed, stopped } of minutes) {
    sum.accepted += accepted
    sum.succeeded += succeeded
    sum.failed += failed
    sum.stopped += stopped
  }
  return sum
}
