import { BODY_BYTES_MAX } from '@counterstep/protocol'
import { findOrMake } from './find-or-make.ts'

export interface QuotaBounds {
  /** One key may ask for this many new transactions in a day. If it is absent, there is no limit. */
  readonly submitsMax?: number
  /** One key may store this many bytes in a day. If it is absent, there is no limit. */
  readonly bytesMax?: number
}

/** Names what a route stores: a new transaction, or a branch of an existing one. */
export type Stores = 'transaction' | 'branch'

const DAY_MS = 24 * 3_600_000
/** This many callers are counted at once. Beyond that the one that came first is forgotten and begins anew. */
const CALLERS_MAX = 10_000

interface Used {
  submits: number
  bytes: number
}

/**
 * Counts what each key, or network of an address that needs none, has asked to store since midnight UTC. It counts in
 * this process: a restart begins anew, and each of several nodes allows as much. A request counts when its head is
 * there, even if it is refused later. Before its row is stored, the bytes that the row has beyond the body count as
 * well, since headers of a transaction are stored with each branch. So no more than the quota is ever stored.
 */
export class KeyQuota {
  readonly #submitsMax: number
  readonly #bytesMax: number
  readonly #used = new Map<string, Used>()
  #day = 0

  constructor({ submitsMax, bytesMax }: QuotaBounds) {
    this.#submitsMax = submitsMax ?? Number.POSITIVE_INFINITY
    this.#bytesMax = bytesMax ?? Number.POSITIVE_INFINITY
  }

  /**
   * Counts one request. `bytesText` is its Content-Length; a body without one counts as the largest that is taken.
   * Returns false when it would be too much.
   */
  take(caller: string, stores: Stores, bytesText: string | undefined, nowMs: number): boolean {
    const used = this.#usedBy(caller, nowMs)
    const submits = used.submits + (stores === 'transaction' ? 1 : 0)
    const bytes = used.bytes + readLength(bytesText)
    if (submits > this.#submitsMax || bytes > this.#bytesMax) return false
    used.submits = submits
    used.bytes = bytes
    return true
  }

  /** Counts more bytes of a request that was taken. Returns false when it would be too much. */
  takeMore(caller: string, moreBytes: number, nowMs: number): boolean {
    const used = this.#usedBy(caller, nowMs)
    if (used.bytes + moreBytes > this.#bytesMax) return false
    used.bytes += moreBytes
    return true
  }

  /** Tells how long it is until the next day begins. */
  readRetryAfterS(nowMs: number): number {
    return Math.ceil((DAY_MS - (nowMs % DAY_MS)) / 1_000)
  }

  #usedBy(caller: string, nowMs: number): Used {
    // A clock that goes back does not begin a new day.
    const day = Math.max(this.#day, Math.floor(nowMs / DAY_MS))
    if (day > this.#day) {
      this.#day = day
      this.#used.clear()
    }
    return findOrMake(this.#used, caller, () => ({ submits: 0, bytes: 0 }), CALLERS_MAX)
  }
}

/** A body without a length counts as the largest that is taken. */
export function readLength(text: string | undefined): number {
  const length = text === undefined ? Number.NaN : Number(text)
  return Number.isSafeInteger(length) && length >= 0 ? Math.min(length, BODY_BYTES_MAX) : BODY_BYTES_MAX
}
