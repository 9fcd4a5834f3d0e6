import type { RequestHead } from '../request-head.ts'
import { readSessionId } from './session-cookie.ts'
import type { FoundSession, Sessions } from './sessions.ts'

/** A page of another origin cannot send this header, since a browser would ask us first, and we never allow it. */
export const CONSOLE_HEADER = 'counterstep-console'

/** The session of a request stays beside its object until the guard of the route asks for it. */
const FOUND = new WeakMap<RequestHead, FoundSession>()

/**
 * Finds the session of a request before its guard decides, and returns undefined where there is nothing to wait for.
 * A request with a key of its own needs no session, whether its key is good or not.
 */
export function findRequestSession(sessions: Sessions, head: RequestHead): Promise<void> | undefined {
  const { cookie, authorization } = head.headers
  if (cookie === undefined || authorization !== undefined || !hasConsoleHeader(head)) return undefined
  const id = readSessionId(cookie)
  return id === undefined ? undefined : rememberSession(sessions, head, id)
}

export function readRequestSession(head: RequestHead): FoundSession | undefined {
  return FOUND.get(head)
}

/** Tells whether a request has a session that is not looked at, since it lacks the header of the console. */
export function lacksConsoleHeader(head: RequestHead): boolean {
  return readSessionId(head.headers.cookie) !== undefined && !hasConsoleHeader(head)
}

function hasConsoleHeader({ headers }: RequestHead): boolean {
  return headers[CONSOLE_HEADER] === '1'
}

async function rememberSession(sessions: Sessions, head: RequestHead, id: string): Promise<void> {
  const found = await sessions.find(id)
  if (found !== undefined) FOUND.set(head, found)
}
