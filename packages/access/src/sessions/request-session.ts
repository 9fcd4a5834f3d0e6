import type { RequestHead } from '../request-head.ts'
import { readSessionCookie } from './session-cookie.ts'
import { isHalf } from './session-halves.ts'
import type { FoundSession, Sessions } from './sessions.ts'

/**
 * It has the half of a session that the login has answered. A page of another origin does not know it, and cannot send the
 * header either, since a browser would ask us first, and we never allow it.
 */
export const CONSOLE_HEADER = 'counterstep-console'

/** The console sends it with what it asks by itself while its person does nothing. Such a request is no use of a session. */
export const UNATTENDED_HEADER = 'counterstep-unattended'

/** The session of a request stays beside its object until the guard of the route asks for it. */
const FOUND = new WeakMap<RequestHead, FoundSession>()

/**
 * Finds the session of a request before its guard decides, and returns undefined where there is nothing to wait for.
 * A request with a key of its own needs no session, whether its key is good or not. `isUse` is false if no person has asked
 * anything, as when a stream looks whether its session is still good.
 */
export function findRequestSession(
  sessions: Sessions,
  head: RequestHead,
  isUse = true,
): Promise<void> | undefined {
  const { cookie, authorization } = head.headers
  if (cookie === undefined || authorization !== undefined) return undefined
  const [inCookie, inHeader] = [readSessionCookie(cookie), readConsoleHeader(head)]
  if (inCookie === undefined || inHeader === undefined) return undefined
  const halves = { cookie: inCookie, header: inHeader }
  return rememberSession(head, sessions.find(halves, isUse && head.headers[UNATTENDED_HEADER] !== '1'))
}

export function readRequestSession(head: RequestHead): FoundSession | undefined {
  return FOUND.get(head)
}

/** Tells whether a request has a session that is not looked at, since it lacks the header of the console. */
export function lacksConsoleHeader(head: RequestHead): boolean {
  return readSessionCookie(head.headers.cookie) !== undefined && readConsoleHeader(head) === undefined
}

function readConsoleHeader({ headers }: RequestHead): string | undefined {
  const value = headers[CONSOLE_HEADER]
  return isHalf(value) ? value : undefined
}

async function rememberSession(head: RequestHead, finding: Promise<FoundSession | undefined>): Promise<void> {
  const found = await finding
  if (found !== undefined) FOUND.set(head, found)
}
