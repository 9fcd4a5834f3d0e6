import { toNetwork } from './to-network.ts'

/** S17 of the security page promises this bound for an address without a good key. */
export const FAILURES_PER_ADDRESS_PER_S_MAX = 10
/** The table counts this many addresses at once. */
export const ADDRESSES_MAX = 10_000

const WINDOW_MS = 1_000
/** The addresses for which the table has no place are counted together under this name. */
const OTHERS = ''

/** Counts failed authentications by address, in a table that is emptied each second and never over its size. */
export class FailureRate {
  #window = 0
  readonly #counts = new Map<string, number>()

  /** Counts a failure of this address. Returns true if that is more than the bound allows. */
  countFailure(address: string, nowMs: number): boolean {
    const window = Math.floor(nowMs / WINDOW_MS)
    if (window !== this.#window) {
      this.#window = window
      this.#counts.clear()
    }
    const network = toNetwork(address)
    const isKept = this.#counts.has(network) || this.#counts.size < ADDRESSES_MAX
    const counted = isKept ? network : OTHERS
    const count = (this.#counts.get(counted) ?? 0) + 1
    this.#counts.set(counted, count)
    return count > FAILURES_PER_ADDRESS_PER_S_MAX
  }

  get size(): number {
    return this.#counts.size
  }
}
