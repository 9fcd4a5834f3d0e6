import type { Measurement, Worker } from '../../rounds.ts'

/**
 * Adds the CPU time that the database took for one saga, where it is known. Together with the server's own it is what a saga
 * costs who runs it: all of the time also holds the load and the branches, which are the same on both sides.
 */
export function withStoreCpu(measured: Measurement, workers: readonly Worker[]): Measurement {
  const seconds = measured.cpuSeconds[workers.findIndex(({ name }) => name === 'database')]
  if (seconds === undefined) return measured
  const answers = measured.answers - (measured.answersWithoutCpu ?? 0)
  return { ...measured, figures: { ...measured.figures, 'store CPU µs': (seconds / answers) * 1e6 } }
}
