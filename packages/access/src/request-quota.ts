import type { IncomingHttpHeaders } from 'node:http'
import type { CounterstepError } from '@counterstep/protocol'
import { QuotaExceededError } from './errors.ts'
import { type KeyQuota, readLength, type Stores } from './key-quota.ts'

/** Describes as much of a request as is counted. The object itself tells one request from another. */
interface CountedRequest {
  readonly headers: IncomingHttpHeaders
}

/** Counts the requests of each key, and the bytes that they store, against its quota. */
export interface RequestQuota {
  /**
   * Counts a request before its body is read. `name` is a key's id or a network. Returns undefined if the request may
   * go on.
   */
  take(request: CountedRequest, name: string, stores: Stores, now: number): CounterstepError | undefined
  /** Counts what the row of a counted request has beyond its body. Returns undefined if the row may be stored. */
  takeStored(request: CountedRequest, bytes: number): CounterstepError | undefined
}

export function createRequestQuota(quota: KeyQuota, nowMs: () => number): RequestQuota {
  const counted = new WeakMap<CountedRequest, string>()
  return {
    take(request, name, stores, now) {
      const isLeft = quota.take(name, stores, request.headers['content-length'], now)
      if (!isLeft) return new QuotaExceededError(quota.readRetryAfterS(now))
      counted.set(request, name)
      return undefined
    },
    takeStored(request, bytes) {
      const name = counted.get(request)
      if (name === undefined) return undefined
      const now = nowMs()
      const moreBytes = Math.max(0, bytes - readLength(request.headers['content-length']))
      return quota.takeMore(name, moreBytes, now)
        ? undefined
        : new QuotaExceededError(quota.readRetryAfterS(now))
    },
  }
}
