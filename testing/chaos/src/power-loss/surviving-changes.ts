import type { Random } from './random.ts'

export type Change =
  | { readonly type: 'write'; readonly offset: number; readonly data: Buffer }
  | { readonly type: 'truncate'; readonly length: number }

/** A disk writes as many bytes at once or not at all. */
const SECTOR_BYTES = 512
const KEPT_SHARES = [0, 0.5, 1, 0.1, 0.9] as const
const TORN_SHARE = 0.3

/** How one power cut treats what was not synced: by turns nothing is there, all of it, or some. */
export class Fate {
  readonly #random: Random
  readonly #keptShare: number

  constructor(random: Random, cut: number) {
    this.#random = random
    this.#keptShare = KEPT_SHARES[cut % KEPT_SHARES.length] ?? 0
  }

  isKept(): boolean {
    return this.#random.next() < this.#keptShare
  }

  /** Nothing is torn where nothing or everything is kept. */
  isTorn(): boolean {
    const isMixed = this.#keptShare > 0 && this.#keptShare < 1
    return isMixed && this.#random.next() < TORN_SHARE
  }

  /** So many of these. */
  upTo(count: number): number {
    return this.#keptShare === 1 ? count : this.#keptShare === 0 ? 0 : this.#random.upTo(count)
  }
}

/** Any subset, in their order; and of a torn write any of its sectors. */
export function surviving(changes: readonly Change[], fate: Fate): Change[] {
  return changes.flatMap((change) => {
    if (change.type === 'write' && fate.isTorn()) return splitSectors(change).filter(() => fate.isKept())
    return fate.isKept() ? [change] : []
  })
}

function splitSectors({ offset, data }: Change & { readonly type: 'write' }): Change[] {
  const sectors: Change[] = []
  for (let at = 0; at < data.length; ) {
    const end = Math.min(data.length, at + SECTOR_BYTES - ((offset + at) % SECTOR_BYTES))
    sectors.push({ type: 'write', offset: offset + at, data: data.subarray(at, end) })
    at = end
  }
  return sectors
}
