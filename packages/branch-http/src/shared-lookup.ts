import type { LookupFunction } from 'node:net'

/** Of different names. The system's look-ups wait for one another on a few threads, so more would only wait longer. */
export const LOOKUPS_IN_FLIGHT_MAX = 64

/** It names no host: it may be shown. */
class TooManyLookupsError extends Error {
  readonly code = 'COUNTERSTEP_TOO_MANY_LOOKUPS'

  constructor() {
    super('too many look-ups of names are under way')
    this.name = 'TooManyLookupsError'
  }
}

type Callback = Parameters<LookupFunction>[2]

/**
 * One look-up in flight for each name, whose answer or failure is for all who wait for it: a slow name takes one of
 * the system's few threads in place of all. Nothing is remembered once it is answered.
 */
export function sharedLookup(lookup: LookupFunction): LookupFunction {
  const waiting = new Map<string, Callback[]>()
  return function lookUpShared(hostname, options, callback) {
    const { family = 0, hints = 0, all = false } = options
    const key = `${hostname} ${family} ${hints} ${all}`
    const joined = waiting.get(key)
    if (joined !== undefined) {
      joined.push(callback)
      return
    }
    if (waiting.size >= LOOKUPS_IN_FLIGHT_MAX) {
      callback(new TooManyLookupsError(), [])
      return
    }
    const callbacks = [callback]
    waiting.set(key, callbacks)
    try {
      lookup(hostname, options, (...answer) => {
        waiting.delete(key)
        for (const each of callbacks) each(...answer)
      })
    } catch (error: unknown) {
      waiting.delete(key)
      throw error
    }
  }
}
