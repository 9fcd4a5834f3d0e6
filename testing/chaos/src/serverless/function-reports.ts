import type { InvocationReport } from '@counterstep/lambda-emulator'

export interface FunctionFigures {
  readonly invocations: number
  readonly coldStarts: number
  /** SIGKILL in the middle, by the deadline. */
  readonly timedOut: number
  /** Failures of the process or of its start. */
  readonly failed: number
  readonly initMsMedian: number
  readonly durationMsMedian: number
  readonly rssMbMost: number
}

/** Collects all invocations of a run. */
export class FunctionReports {
  readonly #reports: InvocationReport[] = []

  add = (report: InvocationReport): void => {
    this.#reports.push(report)
  }

  toFigures(functionName: string): FunctionFigures {
    const own = this.#reports.filter((report) => report.functionName === functionName)
    const inits = own.flatMap(({ initMs }) => (initMs === undefined ? [] : [initMs]))
    const warm = own.filter(({ initMs, outcome }) => initMs === undefined && outcome === 'answered')
    return {
      invocations: own.length,
      coldStarts: inits.length,
      timedOut: own.filter(({ outcome }) => outcome === 'timed-out').length,
      failed: own.filter(({ outcome }) => outcome === 'failed').length,
      initMsMedian: findMedian(inits),
      durationMsMedian: findMedian(warm.map(({ durationMs }) => durationMs)),
      rssMbMost: Math.round(Math.max(0, ...own.map(({ rssBytesMax }) => rssBytesMax)) / 1_000_000),
    }
  }
}

function findMedian(values: readonly number[]): number {
  return Math.round(values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0)
}
