import { Counter, type Registry } from 'prom-client'

export interface CountFamilyOptions {
  readonly name: string
  readonly help: string
  readonly labelNames: readonly string[]
}

/** Counts how often something was seen with one combination of labels. */
export class Count {
  value = 0

  increment(): void {
    this.value += 1
  }
}

/** Makes a counter whose children are looked up only once, for the reason that `DurationFamily` gives. */
export class CountFamily {
  readonly #labelNames: readonly string[]
  readonly #children: { readonly labels: Readonly<Record<string, string>>; readonly count: Count }[] = []

  constructor(options: CountFamilyOptions, registry: Registry) {
    this.#labelNames = options.labelNames
    const children = this.#children
    // The counter registers itself, and is filled each time it is read.
    new Counter({
      ...options,
      registers: [registry],
      collect() {
        this.reset()
        for (const { labels, count } of children) if (count.value > 0) this.inc(labels, count.value)
      },
    })
  }

  /** Makes a child with these label values. The caller keeps it, since each call makes another one. */
  makeChild(...labelValues: readonly string[]): Count {
    const entries = this.#labelNames.map((name, index) => [name, labelValues[index] ?? ''])
    const count = new Count()
    this.#children.push({ labels: Object.fromEntries(entries), count })
    return count
  }
}
