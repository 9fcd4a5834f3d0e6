import type { PhaseFigures } from './phase.ts'
import type { OverloadReport } from './run-overload.ts'

const MEBIBYTE = 1024 * 1024

export function overloadTable(report: OverloadReport): string {
  const { capacityPerSecond, audit } = report
  const share = (100 * report.overload.goodputPerSecond) / capacityPerSecond
  const growth = report.growthBytes === undefined ? '?' : (report.growthBytes / MEBIBYTE).toFixed(0)
  return [
    `capacity fixed by settings: ${capacityPerSecond} sagas/s`,
    'phase     offered  sagas/s  refused  p50 ms  p99 ms  refused: p50 ms  p99 ms  no Retry-After',
    toRow('calm', report.calm),
    toRow('overload', report.overload),
    toRow('after', report.after),
    `goodput under overload: ${share.toFixed(1)} % of the capacity`,
    `normal again after ${report.settledAfterMs.toFixed(0)} ms; the server grew by ${growth} MiB under overload`,
    `accepted ${audit.accepted}, refused ${audit.refused}, unclear ${audit.unclear}; lost ${audit.lost}, ` +
      `refused that ran ${audit.refusedThatRan}, not called whole ${audit.unfinishedWork}, repeated calls ${audit.repeatedCalls}`,
    `this process was held up for ${report.heldUpMsMax.toFixed(0)} ms at worst`,
  ].join('\n')
}

function toRow(name: string, figures: PhaseFigures): string {
  const ms = (value: number | undefined, width: number) => (value?.toFixed(0) ?? '-').padStart(width)
  return [
    name.padEnd(9),
    String(figures.offered).padStart(7),
    figures.goodputPerSecond.toFixed(1).padStart(8),
    String(figures.refused).padStart(8),
    ms(figures.acceptedP50Ms, 7),
    ms(figures.acceptedP99Ms, 7),
    ms(figures.refusedP50Ms, 16),
    ms(figures.refusedP99Ms, 7),
    String(figures.withoutRetryAfter).padStart(15),
  ].join(' ')
}
