/** What S17 of the security page gives an address without a good key. */
export const FAILURES_PER_ADDRESS_PER_S_MAX = 10
export const ADDRESSES_MAX = 10_000

const WINDOW_MS = 1_000
/** All addresses beyond the table's size share its bound. */
const OTHERS = ''
/** Of an IPv6 address. */
const GROUPS = 8

/** Counts failed authentications by address, in a table that is emptied each second and never over its size. */
export class FailureRate {
  #window = 0
  readonly #counts = new Map<string, number>()

  /** Whether this one is over the bound. */
  isOver(address: string, nowMs: number): boolean {
    const window = Math.floor(nowMs / WINDOW_MS)
    if (window !== this.#window) {
      this.#window = window
      this.#counts.clear()
    }
    const network = networkOf(address)
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

/** Of IPv6 the first half: whoever has one address there has all of them. */
function networkOf(address: string): string {
  if (!address.includes(':') || address.includes('.')) return address
  const [head = '', tail] = address.split('::', 2)
  const groups = head.split(':')
  const gap = tail === undefined ? 0 : Math.max(0, GROUPS - groups.length - tail.split(':').length)
  return [...groups, ...Array<string>(gap).fill('0'), ...(tail ?? '').split(':')]
    .slice(0, GROUPS / 2)
    .join(':')
}
