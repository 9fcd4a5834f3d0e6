import type { IncomingHttpHeaders } from 'node:http'
import type { CounterstepError } from '@counterstep/protocol'
import { checkKey } from './check-key.ts'
import type { CredentialReader } from './credentials.ts'
import {
  forbidden,
  hostRefused,
  originRefused,
  QuotaExceededError,
  rateLimited,
  unauthenticated,
} from './errors.ts'
import { FailureRate } from './failure-rate.ts'
import { isFromForeignPage } from './foreign-page.ts'
import type { HostRule } from './host-rule.ts'
import { type KeyQuota, readLength, type Stores } from './key-quota.ts'
import type { KeyRate } from './key-rate.ts'
import type { KeyFinder } from './key-ring.ts'
import type { Networks } from './networks.ts'
import type { RouteAccess, Scope } from './scope.ts'
import type { StoredKey } from './stored-key.ts'

/** The part of a request that is there before its body. */
export interface RequestHead {
  readonly method?: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly socket: { readonly remoteAddress?: string | undefined }
}

/** Undefined: it may go on. */
export type Guard = (head: RequestHead) => CounterstepError | undefined

/** What one HTTP face asks of a request before it reads the body. */
export interface Gate {
  /** `stores`: what the route has stored, for the quota of its key. */
  guardOf(access: RouteAccess, changesState: boolean, stores?: Stores): Guard
  /** Whether it may see what a key of this scope may; of an open route that shows more to some. A foreign Host may not. */
  mayAs(scope: Scope, head: RequestHead): boolean
  /**
   * Counts what the row of a request that stores a transaction has beyond its body, for the quota of the request's key. Undefined: it may
   * be stored. Absent where there are no quotas.
   */
  readonly takeStored?: (head: RequestHead, bytes: number) => CounterstepError | undefined
  /** Whether anybody is asked for a key. */
  readonly hasKeys: boolean
}

export interface GateSettings {
  /** Absent: nobody is asked for a key. */
  readonly keys?: KeyFinder
  readonly credentials: CredentialReader
  /** Absent: any Host will do. */
  readonly hosts?: HostRule
  /** From where no key is asked for, for what `keylessScopes` allow. */
  readonly keylessNetworks?: Networks
  /** Default: submit alone. */
  readonly keylessScopes?: readonly Scope[]
  /** Absent: a key may be used as often as it likes. */
  readonly keyRate?: KeyRate
  /** Absent: a key may have as much stored as it likes. */
  readonly keyQuota?: KeyQuota
  /** Default: the system's clock. */
  readonly nowMs?: () => number
}

export function createGate(settings: GateSettings): Gate {
  const { keys, credentials, hosts, keylessNetworks, keyRate, keyQuota, nowMs = Date.now } = settings
  const keylessScopes = settings.keylessScopes ?? ['submit']
  const failures = new FailureRate()
  /** The keys of requests whose quota is counted. */
  const counted = new WeakMap<RequestHead, StoredKey>()

  /** Whether the caller's network may do this without a key. */
  function isWithoutKey({ socket }: RequestHead, scopes: readonly Scope[]): boolean {
    if (keylessNetworks === undefined || !scopes.some((scope) => keylessScopes.includes(scope))) return false
    return keylessNetworks.has(socket.remoteAddress ?? '')
  }

  function refuseStranger({ socket }: RequestHead, message: string, now: number): CounterstepError {
    return failures.isOver(socket.remoteAddress ?? '', now)
      ? rateLimited('too many requests without a good key')
      : unauthenticated(message)
  }

  function checkScope(
    head: RequestHead,
    scopes: readonly Scope[],
    stores: Stores | undefined,
  ): CounterstepError | undefined {
    if (keys === undefined || isWithoutKey(head, scopes)) return undefined
    const text = credentials(head.headers.authorization)
    const now = nowMs()
    if (text === undefined) return refuseStranger(head, 'a key is needed: Authorization: Bearer KEY', now)
    const key = checkKey(keys, text, now)
    // A good key is never held up by what others fail at from the same address, which may be a proxy's.
    if (key === undefined) return refuseStranger(head, 'the key is unknown, expired or revoked', now)
    if (keyRate?.take(key, now) === false) return rateLimited('this key is used too often')
    if (!scopes.some((scope) => key.scopes.includes(scope)))
      return forbidden(`this needs a key with the scope ${scopes.join(' or ')}`)
    if (keyQuota === undefined || stores === undefined) return undefined
    const isLeft = keyQuota.take(key, stores, head.headers['content-length'], now)
    if (!isLeft) return new QuotaExceededError(keyQuota.retryAfterS(now))
    counted.set(head, key)
    return undefined
  }

  /** A page of a name that was pointed here shows that name. Without a Host it is HTTP/1.0, which no browser speaks. */
  function hasForeignHost({ headers: { host } }: RequestHead): boolean {
    return hosts !== undefined && host !== undefined && !hosts.allows(host)
  }

  function takeStored(quota: KeyQuota, head: RequestHead, bytes: number): CounterstepError | undefined {
    const key = counted.get(head)
    if (key === undefined) return undefined
    const now = nowMs()
    const moreBytes = Math.max(0, bytes - readLength(head.headers['content-length']))
    return quota.takeMore(key, moreBytes, now) ? undefined : new QuotaExceededError(quota.retryAfterS(now))
  }

  return {
    ...(keyQuota === undefined
      ? {}
      : { takeStored: (head: RequestHead, bytes: number) => takeStored(keyQuota, head, bytes) }),
    hasKeys: keys !== undefined,
    mayAs(scope, head) {
      if (hasForeignHost(head)) return false
      if (keys === undefined || isWithoutKey(head, [scope])) return true
      const text = credentials(head.headers.authorization)
      return text !== undefined && checkKey(keys, text, nowMs())?.scopes.includes(scope) === true
    },
    guardOf(access, changesState, stores) {
      return function guard(head) {
        if (changesState && isFromForeignPage(head, hosts)) return originRefused()
        if (access === 'open') return undefined
        if (hasForeignHost(head)) return hostRefused()
        return checkScope(head, access, stores)
      }
    },
  }
}
