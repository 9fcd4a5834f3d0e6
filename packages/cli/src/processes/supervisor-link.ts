import {
  type MetricValuesOfProcess,
  type Registry,
  readMetricValues,
  writeAllMetrics,
} from '@counterstep/server'
import { GATHER_MS_MAX, Gathering } from './gathering.ts'
import type { ToSupervisor, ToWorker, Urls } from './messages.ts'

export interface WorkerEvents {
  readonly onRetire: () => void
  readonly onStop: (reason: string) => void
}

/** Speaks with the supervisor of this worker. */
export class SupervisorLink {
  readonly #process: NodeJS.Process
  /** It waits for longer than the supervisor waits for all. */
  readonly #gathering = new Gathering(2 * GATHER_MS_MAX)
  #underWay: Promise<string> | undefined
  #registry: Registry | undefined

  constructor(process: NodeJS.Process) {
    this.#process = process
  }

  listen({ onRetire, onStop }: WorkerEvents): void {
    this.#process.on('message', (message: ToWorker) => {
      if (message.type === 'retire') onRetire()
      if (message.type === 'stop') onStop(message.reason)
      if (message.type === 'read-metrics') void this.#tellMetrics(message.id)
      if (message.type === 'all-metrics') this.#gathering.take(message.id, message.all)
    })
  }

  tellReady({ url, dtmUrl, dtmGrpcUrl, consoleUrl }: Urls): void {
    this.#send({
      type: 'ready',
      urls: {
        url,
        ...(dtmUrl === undefined ? {} : { dtmUrl }),
        ...(dtmGrpcUrl === undefined ? {} : { dtmGrpcUrl }),
        ...(consoleUrl === undefined ? {} : { consoleUrl }),
      },
    })
  }

  /** The registry has the metrics of this worker. Returns a function that reads those of all, added up, as one page. */
  openMetrics(registry: Registry): () => Promise<string> {
    this.#registry = registry
    // Those who ask meanwhile share the page.
    return () => {
      this.#underWay ??= this.#readAll().finally(() => {
        this.#underWay = undefined
      })
      return this.#underWay
    }
  }

  /** The counts of this process are kept when it is gone. */
  async tellLast(): Promise<void> {
    if (this.#registry !== undefined)
      this.#send({ type: 'last-metrics', metrics: await readMetricValues(this.#registry) })
  }

  async #readAll(): Promise<string> {
    const [all] = await this.#gathering.gather<readonly MetricValuesOfProcess[]>(1, (id) =>
      this.#send({ type: 'ask-metrics', id }),
    )
    if (all === undefined) throw new Error('the supervisor did not tell the metrics in time')
    return writeAllMetrics(all)
  }

  async #tellMetrics(id: number): Promise<void> {
    if (this.#registry === undefined) return
    this.#send({ type: 'metrics', id, metrics: await readMetricValues(this.#registry) })
  }

  /** Where the channel is closed the supervisor is gone, and this process ends by that. */
  #send(message: ToSupervisor): void {
    if (this.#process.connected) this.#process.send?.(message, undefined, undefined, () => undefined)
  }
}
