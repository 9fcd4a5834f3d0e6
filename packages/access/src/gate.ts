import type { IncomingHttpHeaders } from 'node:http'
import { CounterstepError } from '@counterstep/protocol'
import { checkKey } from './check-key.ts'
import type { CredentialReader } from './credentials.ts'
import { forbidden, hostRefused, originRefused, rateLimited, unauthenticated } from './errors.ts'
import { FailureRate } from './failure-rate.ts'
import { isFromForeignPage } from './foreign-page.ts'
import type { HostRule } from './host-rule.ts'
import type { KeyQuota, Stores } from './key-quota.ts'
import type { KeyRate } from './key-rate.ts'
import type { KeyFinder } from './key-ring.ts'
import { isKeyId } from './key-text.ts'
import type { Networks } from './networks.ts'
import { createRequestQuota } from './request-quota.ts'
import type { RouteAccess, Scope } from './scope.ts'
import { isActive, type StoredKey } from './stored-key.ts'
import { toNetwork } from './to-network.ts'

/** The part of a request that is there before its body. */
export interface RequestHead {
  readonly method?: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly socket: { readonly remoteAddress?: string | undefined }
}

/** Says who may go on, by the id of its key or by its address; undefined: anybody may. */
export type Guard = (head: RequestHead) => CounterstepError | string | undefined

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
  /** Whether one that has passed before, by the id of its key or by its network, is still good. */
  knows(caller: string): boolean
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
  /** The rate of each key, and of each address that needs no key. Absent: requests have no rate. */
  readonly keyRate?: KeyRate
  /** The quota of each key, and of each address that needs no key. Absent: what they store has no quota. */
  readonly keyQuota?: KeyQuota
  /** Default: the system's clock. */
  readonly nowMs?: () => number
}

export function createGate(settings: GateSettings): Gate {
  const { keys, credentials, hosts, keylessNetworks, keyRate, keyQuota, nowMs = Date.now } = settings
  const keylessScopes = settings.keylessScopes ?? ['submit']
  const failures = new FailureRate()
  const quota = keyQuota && createRequestQuota(keyQuota, nowMs)

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

  function findKey(head: RequestHead, now: number): StoredKey | CounterstepError {
    const text = credentials(head.headers.authorization)
    if (text === undefined) return refuseStranger(head, 'a key is needed: Authorization: Bearer KEY', now)
    // A good key is never held up by what others fail at from the same address, which may be a proxy's.
    return (
      (keys && checkKey(keys, text, now)) ??
      refuseStranger(head, 'the key is unknown, expired or revoked', now)
    )
  }

  function checkScope(
    head: RequestHead,
    scopes: readonly Scope[],
    stores: Stores | undefined,
  ): CounterstepError | string {
    const { remoteAddress: address = '' } = head.socket
    if (keys === undefined) return address
    const now = nowMs()
    const key = isWithoutKey(head, scopes) ? undefined : findKey(head, now)
    if (key instanceof CounterstepError) return key
    // Without a key the rate and the quota are those of the address.
    const name = key?.id ?? toNetwork(address)
    if (keyRate?.take(name, now) === false) return rateLimited('this key or address is used too often')
    if (key !== undefined && !scopes.some((scope) => key.scopes.includes(scope)))
      return forbidden(`this needs a key with the scope ${scopes.join(' or ')}`)
    const caller = key?.id ?? address
    return (stores && quota?.take(head, name, stores, now)) ?? caller
  }

  /** A page of a name that was pointed here shows that name. Without a Host it is HTTP/1.0, which no browser speaks. */
  function hasForeignHost({ headers: { host } }: RequestHead): boolean {
    return hosts !== undefined && host !== undefined && !hosts.allows(host)
  }

  return {
    ...(quota && { takeStored: quota.takeStored }),
    hasKeys: keys !== undefined,
    knows(caller) {
      if (keys === undefined || !isKeyId(caller)) return true
      const key = keys.find(caller)
      return key !== undefined && isActive(key, nowMs())
    },
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
