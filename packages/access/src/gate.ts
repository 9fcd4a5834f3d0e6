import { CounterstepError } from '@counterstep/protocol'
import { type Caller, rememberCaller } from './actor.ts'
import { type CallerCheckSettings, createCallerCheck } from './caller-check.ts'
import {
  createHostRefusedError,
  createOriginRefusedError,
  toForbiddenError,
  toRateLimitedError,
} from './errors.ts'
import { isFromForeignPage, isFromForeignScript } from './foreign-page.ts'
import type { KeyQuota, Stores } from './key-quota.ts'
import { KeyRate } from './key-rate.ts'
import { isKeyId } from './key-text.ts'
import type { Networks } from './networks.ts'
import type { RequestHead } from './request-head.ts'
import { createRequestQuota } from './request-quota.ts'
import { isGranted, listScopes, type RouteAccess, type Scope, type ScopedAccess } from './scope.ts'
import { findRequestSession } from './sessions/request-session.ts'
import { isActive, type StoredKey } from './stored-key.ts'
import { toNetwork } from './to-network.ts'

/** A key may log in so often. Each login reads all sessions, whatever rate a key has otherwise. */
const LOGINS_PER_KEY_AND_S_MAX = 5

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
  /**
   * Finds the session of a request. Wait for the promise before the guard of the route decides. It is undefined where
   * there is nothing to wait for. `isUse` is false for a look that keeps no session from ending as idle. The function is
   * absent where there are no sessions.
   */
  readonly findSession?: (head: RequestHead, isUse?: boolean) => Promise<void> | undefined
  /** Checks the key of a login as the key of any request. Returns the error that refuses it. */
  logIn(head: RequestHead, text: string): StoredKey | CounterstepError
  /** Returns the key of a request, and its session. Returns undefined if it has neither, or no keys are asked for. */
  identify(head: RequestHead): Caller | undefined
  /** Tells whether a caller that has passed before is still good. `caller` is the id of its key or its network. */
  knows(caller: string): boolean
  /** Tells whether this API asks for keys at all. */
  readonly hasKeys: boolean
}

/**
 * If `keys` is absent, no request needs a key. If `sessions` is, only keys are accepted. If `hosts` is, every Host is.
 */
export interface GateSettings extends CallerCheckSettings {
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
  const { keys, sessions, hosts, keylessNetworks, keyRate, keyQuota } = settings
  const loginRate = new KeyRate(LOGINS_PER_KEY_AND_S_MAX)
  const { nowMs = Date.now } = settings
  const keylessScopes = settings.keylessScopes ?? ['submit']
  const callers = createCallerCheck(settings)
  const quota = keyQuota && createRequestQuota(keyQuota, nowMs)

  /** Tells whether the caller's network may do this without a key. */
  function isWithoutKey({ socket }: RequestHead, access: ScopedAccess): boolean {
    if (keylessNetworks === undefined || !isGranted(access, (scope) => keylessScopes.includes(scope)))
      return false
    return keylessNetworks.has(socket.remoteAddress ?? '')
  }

  function checkScope(
    head: RequestHead,
    access: ScopedAccess,
    stores: Stores | undefined,
  ): CounterstepError | string {
    const { remoteAddress: address = '' } = head.socket
    if (keys === undefined) return address
    const now = nowMs()
    const caller = isWithoutKey(head, access) ? undefined : callers.require(head, now)
    if (caller instanceof CounterstepError) return caller
    const key = caller?.key
    // The network of the address stands for the caller that needs no key, in its rate and its quota.
    const name = key?.id ?? toNetwork(address)
    if (keyRate?.take(name, now) === false) return toRateLimitedError('this key or address is used too often')
    if (key !== undefined && !isGranted(access, (scope) => key.scopes.includes(scope)))
      return toForbiddenError(`this needs a key with ${describeAccess(access)}`)
    if (caller !== undefined && isForOperators(listScopes(access))) rememberCaller(head, caller)
    return (stores && quota?.take(head, name, stores, now)) ?? key?.id ?? address
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
      const caller = callers.find(head, nowMs())
      if (caller?.session !== undefined && isFromForeignScript(head, hosts)) return false
      return caller?.key.scopes.includes(scope) === true
    },
    ...(sessions && { findSession: (head, isUse) => findRequestSession(sessions, head, isUse) }),
    logIn(head, text) {
      if (hasForeignHost(head)) return createHostRefusedError()
      const now = nowMs()
      const key = callers.requireKey(head, text, now)
      if (key instanceof CounterstepError) return key
      const isTooOften = keyRate?.take(key.id, now) === false || !loginRate.take(key.id, now)
      return isTooOften ? toRateLimitedError('this key is used too often') : key
    },
    identify: (head) => (keys === undefined ? undefined : callers.find(head, nowMs())),
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

function describeAccess(access: ScopedAccess): string {
  const isSeveral = 'all' in access
  return isSeveral ? `the scopes ${access.all.join(' and ')}` : `the scope ${access.join(' or ')}`
}

/** Tells whether operators give commands by a route, so that its caller has to be known by name. */
function isForOperators(scopes: readonly Scope[]): boolean {
  return scopes.includes('operate') || scopes.includes('admin')
}
