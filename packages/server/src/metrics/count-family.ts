import type { Metric, MetricObjectWithValues, MetricValue, Registry } from 'prom-client'

export interface CountFamilyOptions {
  readonly name: string
  readonly help: string
  readonly labelNames: readonly string[]
}

/** How often something was seen with one combination of labels. */
export class Count {
  value = 0

  increment(): void {
    this.value += 1
  }
}

/** A counter whose children are looked up once, for the reason that `DurationFamily` names. */
export class CountFamily {
  readonly name: string
  readonly #options: CountFamilyOptions
  readonly #children: { readonly labels: Readonly<Record<string, string>>; readonly count: Count }[] = []

  constructor(options: CountFamilyOptions, registry: Registry) {
    this.name = options.name
    this.#options = options
    // The registry asks its metrics for `name` and `get` alone; its types name prom-client's own classes.
    registry.registerMetric(this as unknown as Metric)
  }

  /** To be kept by the caller: each call makes another. */
  child(...labelValues: readonly string[]): Count {
    const entries = this.#options.labelNames.map((name, index) => [name, labelValues[index] ?? ''])
    const count = new Count()
    this.#children.push({ labels: Object.fromEntries(entries), count })
    return count
  }

  get(): Promise<MetricObjectWithValues<MetricValue<string>>> {
    const { name, help } = this.#options
    const values = this.#children
      .filter(({ count }) => count.value > 0)
      .map(({ labels, count }) => ({ labels, value: count.value }))
    const metric = { name, help, type: 'counter', aggregator: 'sum', values }
    return Promise.resolve(metric as unknown as MetricObjectWithValues<MetricValue<string>>)
  }
}
