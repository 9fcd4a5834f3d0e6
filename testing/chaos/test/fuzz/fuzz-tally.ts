import type { WireAnswer } from '../../src/fuzz/wire-request.ts'

/** Counts what a run met: without refusals and successes of every kind it would have shown nothing. */
export class FuzzTally {
  readonly statuses = new Map<number, number>()
  readonly #tookMs: number[] = []

  add({ status, tookMs }: WireAnswer): void {
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1)
    this.#tookMs.push(tookMs)
  }

  get requests(): number {
    return this.#tookMs.length
  }

  /** The time that such a share of the answers took at most. */
  tookMs(share: number): number {
    const sorted = this.#tookMs.toSorted((a, b) => a - b)
    return sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? 0
  }

  toString(): string {
    const statuses = [...this.statuses]
      .sort(([a], [b]) => a - b)
      .map(([status, count]) => `${status}: ${count}`)
    const times = [0.5, 0.99, 1].map((share) => `p${share * 100} ${Math.round(this.tookMs(share))} ms`)
    return `${this.requests} requests; ${statuses.join(', ')}; ${times.join(', ')}`
  }
}
