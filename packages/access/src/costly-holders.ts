import type { Holder } from './connection.ts'

/** A holder counts as costly for this long after one of its connections was. */
const COSTLY_MS = 10_000
/** So many holders are remembered. The oldest is forgotten for a new one. */
const REMEMBERED_MAX = 4_096
/** An owner of one IPv6 network mostly has all that begin with these groups, a /48. */
const GROUPS_OF_SITE = 3

/** Remembers whose connections have lately brought very many requests before they showed a good key. */
export class CostlyHolders {
  readonly #nowMs: () => number
  readonly #untilMs = new Map<string, number>()

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  note(holder: Holder | undefined): void {
    if (holder === undefined) return
    const site = toSite(holder.name)
    this.#untilMs.delete(site)
    this.#untilMs.set(site, this.#nowMs() + COSTLY_MS)
    const [oldest] = this.#untilMs.keys()
    if (this.#untilMs.size > REMEMBERED_MAX && oldest !== undefined) this.#untilMs.delete(oldest)
  }

  has(holder: Holder | undefined): boolean {
    if (holder === undefined || this.#untilMs.size === 0) return false
    const untilMs = this.#untilMs.get(toSite(holder.name))
    return untilMs !== undefined && untilMs > this.#nowMs()
  }
}

function toSite(network: string): string {
  const groups = network.split(':')
  return groups.length > GROUPS_OF_SITE ? groups.slice(0, GROUPS_OF_SITE).join(':') : network
}
