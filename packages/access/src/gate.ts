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

/** Describes a request before its body is there. */
export interface RequestHead {
  readonly method?: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly socket: { readonly remoteAddress?: string | undefined }
}

/**
 * Returns the error that refuses the request, or else its caller: the id of its key, or its address. Undefined: every
 * caller may go on, and no key is looked at.
 */
export type Guard = (head: RequestHead) => CounterstepError | string | undefined

/** Decides about the requests of one HTTP API before their bodies are read. */
export interface Gate {
  /** Makes the guard of a route. `stores` tells what the route stores, for the quota of the key. */
  guardOf(access: RouteAccess, changesState: boolean, stores?: Stores): Guard
  /**
   * Tells whether a request may see what a key of this scope may see. An open route asks it before it shows more. A
   * request with a foreign Host may not.
   */
  mayAs(scope: Scope, head: RequestHead): boolean
  /**
   * Counts what a stored row has beyond the body of its request, for the quota of the request's key. Undefined: the row
   * may be stored. The function is absent where there are no quotas.
   */
  readonly takeStored?: (head: RequestHead, bytes: number) => CounterstepError | undefined
  /** Tells whether a caller that has passed before is still good. `caller` is the id of its key or its network. */
  knows(caller: string): boolean
  /** Tells whether this API asks for keys at all. */
  readonly hasKeys: boolean
}

export interface GateSettings {
  /** Finds the keys. Absent: no request needs a key. */
  readonly keys?: KeyFinder
  readonly credentials: CredentialReader
  /** Decides which Host headers are accepted. Absent: every Host is. */
  readonly hosts?: HostRule
  /** Callers in these networks need no key for what `keylessScopes` allow. */
  readonly keylessNetworks?: Networks
  /** The scopes that need no key in these networks. Default: submit alone. */
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
    // A good key is never held up by failures from the same address, which may be a proxy's.
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
    // The network of the address stands for the caller that needs no key, in its rate and its quota.
    const name = key?.id ?? toNetwork(address)
    if (keyRate?.take(name, now) === false) return rateLimited('this key or address is used too often')
    if (key !== undefined && !scopes.some((scope) => key.scopes.includes(scope)))
      return forbidden(`this needs a key with the scope ${scopes.join(' or ')}`)
    const caller = key?.id ?? address
    return (stores && quota?.take(head, name, stores, now)) ?? caller
  }

  /**
   * Tells whether the Host is one that is not ours. A page whose name was pointed at this server shows that name here.
   * Over HTTP/2 it is the authority. A request with neither is HTTP/1.0, which no browser speaks.
   */
  function hasForeignHost({ headers: { host, ':authority': authority } }: RequestHead): boolean {
    if (hosts === undefined) return false
    return (
      (host !== undefined && !hosts.allows(host)) ||
      (authority !== undefined && !hosts.allows(String(authority)))
    )
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
