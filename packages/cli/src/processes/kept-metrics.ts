import { type MetricValuesOfProcess, sumEnded } from '@counterstep/server'

/**
 * Keeps the last metrics of each process, and the sums of those that have ended. So a counter of the whole never falls: what
 * scrapes it would take that for a restart of all, and count everything anew.
 */
export class KeptMetrics<Process> {
  readonly #last = new Map<Process, MetricValuesOfProcess>()
  #ended: MetricValuesOfProcess = []
  #adding: Promise<void> = Promise.resolve()

  note(process: Process, metrics: MetricValuesOfProcess): void {
    this.#last.set(process, metrics)
  }

  /** Its counters go on to count, and its gauges do not. */
  end(process: Process): void {
    const last = this.#last.get(process)
    this.#last.delete(process)
    if (last === undefined) return
    this.#adding = this.#adding.then(async () => {
      this.#ended = await sumEnded([this.#ended, last])
    })
  }

  /** Returns what is to be added up: one that has not answered in time counts as it did before. */
  async readAll(): Promise<readonly MetricValuesOfProcess[]> {
    await this.#adding
    return [...this.#last.values(), this.#ended]
  }
}
