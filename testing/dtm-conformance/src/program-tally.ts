export interface Tally {
  readonly passed: number
  readonly failed: number
  /** Checks that fail because of a defect of DTM itself, which is the target. */
  readonly known: number
  readonly skipped: number
}

export const NOTHING: Tally = { passed: 0, failed: 0, known: 0, skipped: 0 }

export const ONE_SKIPPED: Tally = { ...NOTHING, skipped: 1 }

export const ONE_FAILED: Tally = { ...NOTHING, failed: 1 }

const LAST_LINE = /^(?<passed>\d+) passed, (?<failed>\d+) failed(?:, (?<known>\d+) known)?$/

/**
 * Reads a program's report: its last line must tell what its other lines do, and its exit code must fit. Undefined
 * when they do not.
 */
export function readTally(report: string, exitCode: number | null): Tally | undefined {
  const lines = report.trimEnd().split('\n')
  const told = LAST_LINE.exec(lines.pop() ?? '')?.groups
  if (told === undefined) return undefined
  const counted = {
    passed: countLines(lines, 'ok '),
    failed: countLines(lines, 'not ok '),
    known: countLines(lines, 'known '),
  }
  const isTrue =
    Number(told.passed) === counted.passed &&
    Number(told.failed) === counted.failed &&
    Number(told.known ?? 0) === counted.known &&
    (exitCode === 0) === (counted.failed === 0 && counted.passed > 0)
  return isTrue ? { ...counted, skipped: 0 } : undefined
}

export function sum(tallies: readonly Tally[]): Tally {
  return tallies.reduce(
    (total, each) => ({
      passed: total.passed + each.passed,
      failed: total.failed + each.failed,
      known: total.known + each.known,
      skipped: total.skipped + each.skipped,
    }),
    NOTHING,
  )
}

export function tallyLine({ passed, failed, known, skipped }: Tally): string {
  return [
    `${passed} passed`,
    `${failed} failed`,
    ...(known > 0 ? [`${known} known`] : []),
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
  ].join(', ')
}

function countLines(lines: readonly string[], start: string): number {
  return lines.filter((line) => line.startsWith(start)).length
}
