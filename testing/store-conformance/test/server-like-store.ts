import { PURGE_MAX, type Store } from '@counterstep/core'
import { memoryStore } from '../src/memory-store.ts'
import { rewire } from './rewire.ts'

/**
 * The reference store with the freedom of a server: it has a clock of its own, its versions jump as in a store that can lose
 * its last writes, and finished rows expire by themselves, so that `purgeFinished` finds nothing.
 */
export function serverLikeStore(): Store {
  const store = memoryStore({ raise: (version, now) => Math.max(version + 1, now) })
  // The reference acts before its first await, so nothing comes between the expiry and the call.
  const afterExpiry = async <T>(call: () => Promise<T>): Promise<T> => {
    const expiry = store.purgeFinished(PURGE_MAX)
    const [result] = await Promise.all([call(), expiry])
    return result
  }
  return rewire(store, {
    create: (transaction) => afterExpiry(() => store.create(transaction)),
    readMany: (gids) => afterExpiry(() => store.readMany(gids)),
    update: (update) => afterExpiry(() => store.update(update)),
    claim: (claim) => afterExpiry(() => store.claim(claim)),
    postponeDue: (postponement) => afterExpiry(() => store.postponeDue(postponement)),
    list: (query) => afterExpiry(() => store.list(query)),
    purgeFinished: (limit) => afterExpiry(() => store.purgeFinished(limit)),
  })
}
