import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * Calls back in the async context in which this module was loaded. It is no request's where an app imports the engine at
 * its start. One timer is for many transactions, so without it the call of one would be made in the context of another's
 * submit: a function of the process, or a tool that adds baggage to HTTP calls, would read there what belongs to another
 * caller.
 */
export const inEmptyContext: (callback: () => void) => void = AsyncLocalStorage.snapshot()
