import type { IncomingMessage } from 'node:http'
import type { Actor } from '@counterstep/protocol'
import type { FoundSession } from './sessions/sessions.ts'
import type { StoredKey } from './stored-key.ts'

/** Holds the key of a request, and the session that stands for the key if there is one. */
export interface Caller {
  readonly key: StoredKey
  readonly session?: FoundSession
}

/** The object of the request itself is the key, so an entry goes when the request does. */
const CALLERS = new WeakMap<object, Caller>()

/** Remembers who has passed the gate of a route on which operators give commands. */
export function rememberCaller(request: object, caller: Caller): void {
  CALLERS.set(request, caller)
}

/**
 * Says who gives the command of a request that has passed its gate. Without keys, every caller is `local`. A framework's own
 * request is none that has passed a gate, and has no place here.
 */
export function readActor(request: IncomingMessage): Actor {
  const caller = CALLERS.get(request)
  return caller === undefined ? { via: 'local' } : toActor(caller)
}

export function toActor({ key: { id, name }, session }: Caller): Actor {
  if (session === undefined) return { key: { id, name }, via: 'api' }
  const { person } = session.record
  return { key: { id, name }, ...(person === undefined ? {} : { person }), via: 'console' }
}
