import { timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { CounterstepError } from '@counterstep/protocol'
import type { CredentialReader } from './credentials.ts'
import { digestSecret } from './digest-secret.ts'
import {
  createHostRefusedError,
  createOriginRefusedError,
  toForbiddenError,
  toRateLimitedError,
  toUnauthenticatedError,
} from './errors.ts'
import { FailureRate } from './failure-rate.ts'
import { isFromForeignPage } from './foreign-page.ts'
import type { HostRule } from './host-rule.ts'
import type { KeyQuota, Stores } from './key-quota.ts'
import type { KeyRate } from './key-rate.ts'
import type { KeyFinder } from './key-ring.ts'
import { isKeyId, readKey } from './key-text.ts'
import type { Networks } from './networks.ts'
import { createRequestQuota } from './request-quota.ts'
import type { RouteAccess, Scope } from './scope.ts'
import { isActive, type StoredKey } from './stored-key.ts'
import { toNetwork } from './to-network.ts'

/**
 * No secret has this digest. A key with an unknown id is compared with it, so that the time taken does not tell an
 * unknown id from a wrong secret.
 */
const NO_DIGEST = Buffer.alloc(32)

/** Describes a request before its body is there. */
export interface RequestHead {
  readonly method?: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly socket: { readonly remoteAddress?: string | undefined }
}

/**
 * Returns the error that refuses the request, or else its caller: the id of its key, or its address. Returns undefined
 * if every caller may go on; then no key is read.
 */
export type Guard = (head: RequestHead) => CounterstepError | string | undefined

/** Decides about the requests of one HTTP API before their bodies are read. */
export interface Gate {
  /** Makes the guard of a route. `stores` tells what the route stores, for the quota of the key. */
  buildGuard(access: RouteAccess, changesState: boolean, stores?: Stores): Guard
  /**
   * Tells whether a request may see what a key with this scope may see. A route that is open to all calls it before it
   * shows more. A request with a foreign Host may not.
   */
  allowsScope(scope: Scope, head: RequestHead): boolean
  /**
   * Counts what a stored row has beyond the body of its request, for the quota of the request's key. Returns undefined
   * if the row may be stored. The function is absent where there are no quotas.
   */
  readonly takeStored?: (head: RequestHead, bytes: number) => CounterstepError | undefined
  /** Tells whether a caller that has passed before is still good. `caller` is the id of its key or its network. */
  knows(caller: string): boolean
  /** Tells whether this API asks for keys at all. */
  readonly hasKeys: boolean
}

export interface GateSettings {
  /** Finds the keys. If it is absent, no request needs a key. */
  readonly keys?: KeyFinder
  readonly credentials: CredentialReader
  /** Decides which Host headers are accepted. If it is absent, every Host is. */
  readonly hosts?: HostRule
  /** Callers in these networks need no key for what `keylessScopes` allow. */
  readonly keylessNetworks?: Networks
  /** These scopes need no key in those networks. The default is submit alone. */
  readonly keylessScopes?: readonly Scope[]
  /** Bounds the rate of each key, and of each address that needs no key. If it is absent, no rate is bounded. */
  readonly keyRate?: KeyRate
  /** Counts the quota of each key, and of each address that needs no key. If it is absent, there are no quotas. */
  readonly keyQuota?: KeyQuota
  /** The default is the system's clock. */
  readonly nowMs?: () => number
}

export function createGate(settings: GateSettings): Gate {
  const { keys, credentials, hosts, keylessNetworks, keyRate, keyQuota, nowMs = Date.now } = settings
  const keylessScopes = settings.keylessScopes ?? ['submit']
  const failures = new FailureRate()
  const quota = keyQuota && createRequestQuota(keyQuota, nowMs)

  /** Tells whether the caller's network may do this without a key. */
  function isWithoutKey({ socket }: RequestHead, scopes: readonly Scope[]): boolean {
    if (keylessNetworks === undefined || !scopes.some((scope) => keylessScopes.includes(scope))) return false
    return keylessNetworks.has(socket.remoteAddress ?? '')
  }

  function refuseStranger({ socket }: RequestHead, message: string, now: number): CounterstepError {
    return failures.countFailure(socket.remoteAddress ?? '', now)
      ? toRateLimitedError('too many requests without a good key')
      : toUnauthenticatedError(message)
  }

  function findKey(head: RequestHead, now: number): StoredKey | CounterstepError {
    const text = credentials(head.headers.authorization)
    if (text === undefined) return refuseStranger(head, 'a key is needed: Authorization: Bearer KEY', now)
    // Failures from an address do not slow down a good key from there, since the address may be a proxy's.
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
    if (keyRate?.take(name, now) === false) return toRateLimitedError('this key or address is used too often')
    if (key !== undefined && !scopes.some((scope) => key.scopes.includes(scope)))
      return toForbiddenError(`this needs a key with the scope ${scopes.join(' or ')}`)
    const caller = key?.id ?? address
    return (stores && quota?.take(head, name, stores, now)) ?? caller
  }

  /**
   * Tells whether the Host is not ours. If the name of a page was pointed at this server (DNS rebinding), the Host has
   * that name. Over HTTP/2 it stands in the authority. A request with neither is HTTP/1.0, which no browser speaks.
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
    allowsScope(scope, head) {
      if (hasForeignHost(head)) return false
      if (keys === undefined || isWithoutKey(head, [scope])) return true
      const text = credentials(head.headers.authorization)
      return text !== undefined && checkKey(keys, text, nowMs())?.scopes.includes(scope) === true
    },
    buildGuard(access, changesState, stores) {
      return function guard(head) {
        if (changesState && isFromForeignPage(head, hosts)) return createOriginRefusedError()
        if (access === 'open') return undefined
        if (hasForeignHost(head)) return createHostRefusedError()
        return checkScope(head, access, stores)
      }
    },
  }
}

/** Finds the stored key for this text. Returns undefined if the key is unknown, expired or wrong. */
function checkKey(keys: KeyFinder, text: string, nowMs: number): StoredKey | undefined {
  const parts = readKey(text)
  if (parts === undefined) return undefined
  const stored = keys.find(parts.id)
  const isSecret = timingSafeEqual(digestSecret(parts.secret), stored?.digest ?? NO_DIGEST)
  return stored !== undefined && isSecret && isActive(stored, nowMs) ? stored : undefined
}
