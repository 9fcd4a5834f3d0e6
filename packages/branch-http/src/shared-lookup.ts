import type { LookupFunction } from 'node:net'

/** At most this many names that are not listed wait to be looked up, or are looked up. */
export const LOOKUPS_IN_FLIGHT_MAX = 64

/** The error may be shown, because it names no host. */
class TooManyLookupsError extends Error {
  readonly code = 'COUNTERSTEP_TOO_MANY_LOOKUPS'

  constructor() {
    super('too many look-ups of names are under way')
    this.name = 'TooManyLookupsError'
  }
}

type Callback = Parameters<LookupFunction>[2]

/**
 * Makes calls that need the same name share one look-up, with its answer or its failure. A slow name then takes one
 * of the system's few threads and not all of them. Nothing is remembered after the answer. `listed` holds the names
 * that the configuration names one by one. A client may make up any number of other names, so those take no thread
 * from the listed, and none from the store, which may have a name as well.
 */
export function shareLookup(systemLookup: LookupFunction, listed: ReadonlySet<string>): LookupFunction {
  const lookup = lookUpInTurn(systemLookup, listed)
  const waiting = new Map<string, Callback[]>()
  return function lookUpShared(hostname, options, callback) {
    const { family = 0, hints = 0, all = false } = options
    const key = `${hostname} ${family} ${hints} ${all}`
    const joined = waiting.get(key)
    if (joined !== undefined) {
      joined.push(callback)
      return
    }
    if (waiting.size >= LOOKUPS_IN_FLIGHT_MAX && !listed.has(hostname)) {
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

/**
 * Looks up names that are not listed one after the other. Node gives look-ups two of its four threads, and two of those
 * names that hang would take both.
 */
function lookUpInTurn(lookup: LookupFunction, listed: ReadonlySet<string>): LookupFunction {
  const queue: (() => void)[] = []
  let isBusy = false
  function runNext(): void {
    isBusy = false
    queue.shift()?.()
  }
  return function lookUp(hostname, options, callback) {
    if (listed.has(hostname)) {
      lookup(hostname, options, callback)
      return
    }
    function run(): void {
      isBusy = true
      try {
        lookup(hostname, options, (...answer) => {
          runNext()
          callback(...answer)
        })
      } catch (error: unknown) {
        runNext()
        callback(error instanceof Error ? error : new Error('no look-up', { cause: error }), [])
      }
    }
    if (isBusy) queue.push(run)
    else run()
  }
}
