import type { CounterstepError } from '@counterstep/protocol'
import { QuotaExceededError } from './errors.ts'
import type { RequestHead } from './gate.ts'
import { type KeyQuota, readLength, type Stores } from './key-quota.ts'

/** Counts the requests of each key, and the bytes that they store, against its quota. */
export interface RequestQuota {
  /**
   * Counts a request before its body is read. `name` is a key's id or a network. Returns undefined if the request may
   * go on.
   */
  take(head: RequestHead, name: string, stores: Stores, now: number): CounterstepError | undefined
  /** Counts what the row of a counted request has beyond its body. Returns undefined if the row may be stored. */
  takeStored(head: RequestHead, bytes: number): CounterstepError | undefined
}

export function createRequestQuota(quota: KeyQuota, nowMs: () => number): RequestQuota {
  const counted = new WeakMap<RequestHead, string>()
  return {
    take(head, name, stores, now) {
      const isLeft = quota.take(name, stores, head.headers['content-length'], now)
      if (!isLeft) return new QuotaExceededError(quota.readRetryAfterS(now))
      counted.set(head, name)
      return undefined
    },
    takeStored(head, bytes) {
      const name = counted.get(head)
      if (name === undefined) return undefined
      const now = nowMs()
      const moreBytes = Math.max(0, bytes - readLength(head.headers['content-length']))
      return quota.takeMore(name, moreBytes, now)
        ? undefined
        : new QuotaExceededError(quota.readRetryAfterS(now))
    },
  }
}
