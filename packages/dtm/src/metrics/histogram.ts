/** These are the default buckets of Prometheus' clients, in seconds. */
const BOUNDS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export class Histogram {
  readonly #buckets = BOUNDS_S.map(() => 0)
  #sum = 0
  #count = 0

  observe(seconds: number): void {
    this.#sum += seconds
    this.#count++
    for (const [position, bound] of BOUNDS_S.entries()) {
      if (seconds <= bound) this.#buckets[position] = (this.#buckets[position] ?? 0) + 1
    }
  }

  /** Returns its lines in Prometheus' text format. `labels` is not empty and has no braces around it. */
  writeLines(name: string, labels: string): string[] {
    return [
      ...BOUNDS_S.map(
        (bound, position) => `${name}_bucket{${labels},le="${bound}"} ${this.#buckets[position]}`,
      ),
      `${name}_bucket{${labels},le="+Inf"} ${this.#count}`,
      `${name}_sum{${labels}} ${this.#sum}`,
      `${name}_count{${labels}} ${this.#count}`,
    ]
  }
}
