import { OPS, type Op, RESULTS, type Result } from '@counterstep/protocol'
import { Counter, type Registry } from 'prom-client'

/** Beside the services that the configuration names, this many have a label of their own. */
const UNNAMED_MAX = 50
/** Calls of more services than this wait for a label between two scrapes. The rest counts as `other` at once. */
const WAITING_MAX = 200
const OTHER = 'other'

/** The counts of one service, by op and then by result. */
class ServiceCounts {
  readonly byOp = new Map<Op, Float64Array>()

  increment(op: Op, result: Result): void {
    const counts = this.byOp.get(op) ?? new Float64Array(RESULTS.length)
    this.byOp.set(op, counts)
    const at = INDEX_OF_RESULT[result]
    counts[at] = (counts[at] ?? 0) + 1
  }

  get total(): number {
    let total = 0
    for (const counts of this.byOp.values()) for (const count of counts) total += count
    return total
  }

  add(other: ServiceCounts): void {
    for (const [op, counts] of other.byOp) {
      const own = this.byOp.get(op) ?? new Float64Array(RESULTS.length)
      this.byOp.set(op, own)
      for (let at = 0; at < own.length; at++) own[at] = (own[at] ?? 0) + (counts[at] ?? 0)
    }
  }
}

// The type is right, since the table has an entry for each result.
const INDEX_OF_RESULT = Object.fromEntries(RESULTS.map((result, at) => [result, at])) as Record<
  Result,
  number
>

/**
 * Counts the calls of services under a bounded number of labels: the services that the configuration names, then the
 * busiest others, then `other`. Labels are given when the metrics are read, to those that were called most since. A
 * service keeps its label, and what was counted as `other` stays there, so that no counter ever falls.
 */
export class ServiceCalls {
  readonly #labelled: Map<string, ServiceCounts>
  readonly #labelledMax: number
  readonly #other = new ServiceCounts()
  #waiting = new Map<string, ServiceCounts>()

  constructor(named: readonly string[]) {
    this.#labelled = new Map(named.map((service) => [service, new ServiceCounts()]))
    this.#labelledMax = this.#labelled.size + UNNAMED_MAX
  }

  count(service: string, op: Op, result: Result): void {
    const counts = this.#labelled.get(service) ?? this.#waiting.get(service) ?? this.#add(service)
    counts.increment(op, result)
  }

  /** Gives the labels that are left, and returns the counts of all labels. */
  read(): readonly {
    readonly service: string
    readonly op: Op
    readonly result: Result
    readonly count: number
  }[] {
    this.#giveLabels()
    const all = [...this.#labelled, [OTHER, this.#other] as const]
    return all.flatMap(([service, { byOp }]) =>
      OPS.flatMap((op) =>
        RESULTS.map((result, at) => ({ service, op, result, count: byOp.get(op)?.[at] ?? 0 })).filter(
          ({ count }) => count > 0,
        ),
      ),
    )
  }

  #add(service: string): ServiceCounts {
    const isFull = this.#labelled.size >= this.#labelledMax || this.#waiting.size >= WAITING_MAX
    if (service === OTHER || isFull) return this.#other
    const counts = new ServiceCounts()
    this.#waiting.set(service, counts)
    return counts
  }

  #giveLabels(): void {
    const busiestFirst = [...this.#waiting].sort(([, left], [, right]) => right.total - left.total)
    this.#waiting = new Map()
    for (const [service, counts] of busiestFirst) {
      if (this.#labelled.size < this.#labelledMax) this.#labelled.set(service, counts)
      else this.#other.add(counts)
    }
  }
}

/** Registers the counter, and returns the function that counts a call. */
export function countServiceCalls(
  registry: Registry,
  named: readonly string[],
): (service: string, op: Op, result: Result) => void {
  const calls = new ServiceCalls(named)
  new Counter({
    name: 'counterstep_service_calls_total',
    help: 'Calls of services: those that the configuration names, the busiest others, and `other`.',
    labelNames: ['service', 'op', 'result'],
    registers: [registry],
    collect() {
      this.reset()
      for (const { count, ...labels } of calls.read()) this.inc(labels, count)
    },
  })
  return (service, op, result) => calls.count(service, op, result)
}
