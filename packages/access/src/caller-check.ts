import type { CounterstepError } from '@counterstep/protocol'
import type { Caller } from './actor.ts'
import { checkKey } from './check-key.ts'
import type { CredentialReader } from './credentials.ts'
import { createOriginRefusedError, toRateLimitedError, toUnauthenticatedError } from './errors.ts'
import { FailureRate } from './failure-rate.ts'
import { isFromForeignScript } from './foreign-page.ts'
import type { HostRule } from './host-rule.ts'
import type { KeyFinder } from './key-ring.ts'
import type { RequestHead } from './request-head.ts'
import { lacksConsoleHeader, readRequestSession } from './sessions/request-session.ts'
import type { Sessions } from './sessions/sessions.ts'
import { isActive, type StoredKey } from './stored-key.ts'

const BAD_KEY = 'the key is unknown, expired or revoked'

export interface CallerCheckSettings {
  readonly keys?: KeyFinder
  readonly credentials: CredentialReader
  readonly sessions?: Sessions
  readonly hosts?: HostRule
}

/** Finds the key of a request: its own, or the one that its session stands for. */
export interface CallerCheck {
  find(head: RequestHead, now: number): Caller | undefined
  /** Returns the error that refuses a request without a good key, and counts it for the rate of its address. */
  require(head: RequestHead, now: number): Caller | CounterstepError
  /** Does the same for a key that stands in the body of a login. */
  requireKey(head: RequestHead, text: string, now: number): StoredKey | CounterstepError
}

export function createCallerCheck({ keys, credentials, sessions, hosts }: CallerCheckSettings): CallerCheck {
  const failures = new FailureRate()

  function refuseStranger({ socket }: RequestHead, message: string, now: number): CounterstepError {
    return failures.countFailure(socket.remoteAddress ?? '', now)
      ? toRateLimitedError('too many requests without a good key')
      : toUnauthenticatedError(message)
  }

  /** The key is looked up each time, so a session ends with its key. */
  function findSession(head: RequestHead, now: number): Caller | undefined {
    const session = readRequestSession(head)
    const key = session && keys?.find(session.record.keyId)
    return session !== undefined && key !== undefined && isActive(key, now) ? { key, session } : undefined
  }

  function find(head: RequestHead, now: number): Caller | undefined {
    const text = credentials(head.headers.authorization)
    if (text === undefined) return findSession(head, now)
    const key = keys && checkKey(keys, text, now)
    return key && { key }
  }

  function explainRefusal(head: RequestHead): string {
    if (credentials(head.headers.authorization) !== undefined) return BAD_KEY
    if (sessions === undefined || head.headers.cookie === undefined)
      return 'a key is needed: Authorization: Bearer KEY'
    return lacksConsoleHeader(head)
      ? 'a session needs the header counterstep-console, with the secret that its login has answered'
      : 'a key is needed: there is no session, or it has ended'
  }

  return {
    find,
    require(head, now) {
      const caller = find(head, now)
      // Failures from an address do not slow down a good key from there, since the address may be a proxy's.
      if (caller === undefined) return refuseStranger(head, explainRefusal(head), now)
      const isForeign = caller.session !== undefined && isFromForeignScript(head, hosts)
      return isForeign ? createOriginRefusedError() : caller
    },
    requireKey: (head, text, now) =>
      (keys && checkKey(keys, text, now)) ?? refuseStranger(head, BAD_KEY, now),
  }
}
