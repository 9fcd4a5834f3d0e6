import { setTimeout as delay } from 'node:timers/promises'
import type { Store } from '@counterstep/core'
import { memoryStore } from '../src/memory-store.ts'
import { rewire } from './rewire.ts'
import type { ServedCall } from './served-store.ts'

export type Route = (call: ServedCall, connection: number) => Promise<unknown>

/** Answers a call of a process on the store. */
export function routeTo(store: Store): Route {
  const verbs = new Map<string, unknown>(Object.entries(rewire(store, {})))
  return async ({ verb, arguments: given }) => {
    const call = verbs.get(verb)
    if (typeof call !== 'function') throw new Error(`no verb ${verb}`)
    return call(...given)
  }
}

interface BrokenRace {
  /** A part of the title of the race that must catch it. */
  readonly caughtBy: string
  readonly because: RegExp
  readonly route: () => Route
}

/** Faults that show only with two callers at once, or only in a race. */
export const BROKEN_RACES: Readonly<Record<string, BrokenRace>> = {
  'looks first and grants a claim later': {
    caughtBy: 'two claims',
    because: /not as its claimer was told|claimed more than once/,
    route: () => {
      const store = memoryStore()
      return routeTo(
        rewire(store, {
          claim: async (claim) => {
            const [row] = await store.readMany([claim.gid])
            const result = await later(() => store.claim(claim))
            const wasFree = row !== undefined && !row.owned && result.type === 'refused'
            return wasFree ? { type: 'claimed', transaction: row, now: Date.now() } : result
          },
        }),
      )
    },
  },
  'looks first and postpones later': {
    caughtBy: 'postpone or claim',
    because: /named not once/,
    route: () => {
      const store = memoryStore()
      return routeTo(
        rewire(store, {
          postponeDue: async (postponement) => {
            const items = (await store.list({ limit: 100 })).items.filter((row) => row.dueAt <= Date.now())
            const gids = items.slice(0, postponement.limit).map(({ gid }) => gid)
            await later(() => store.postponeDue(postponement))
            return { now: Date.now(), gids }
          },
        }),
      )
    },
  },
  'looks first and saves later': {
    caughtBy: 'write against write',
    because: /both won/,
    route: () => routeTo(savesLate()),
  },
  'looks first and lets a finish write over a command': {
    caughtBy: 'command against finish',
    because: /both won/,
    route: () => routeTo(savesLate()),
  },
  'looks first and creates later': {
    caughtBy: 'create against create',
    because: /both won/,
    route: () => {
      const store = memoryStore()
      return routeTo(
        rewire(store, {
          create: async (transaction) => {
            const [row] = await store.readMany([transaction.gid])
            const result = await later(() => store.create(transaction))
            return row === undefined ? { type: 'created', createdAt: result.now, now: result.now } : result
          },
        }),
      )
    },
  },
  'tells the loser of a create his own digest': {
    caughtBy: 'create against create',
    because: /told of another row/,
    route: () => {
      const store = memoryStore()
      return routeTo(
        rewire(store, {
          create: async (transaction) => {
            const result = await later(() => store.create(transaction))
            return result.type === 'exists' ? { ...result, digest: transaction.digest } : result
          },
        }),
      )
    },
  },
  'refuses both when two claims meet': {
    caughtBy: 'two claims',
    because: /nobody has claimed it/,
    route: () => {
      const store = memoryStore()
      const claiming = new Set<string>()
      return routeTo(
        rewire(store, {
          claimDue: async ({ limit: _, ...claim }) => store.claimDue({ ...claim, limit: 0 }),
          claim: async (claim) => {
            if (claiming.delete(claim.gid)) return { type: 'refused', reason: 'held' }
            claiming.add(claim.gid)
            return later(async () =>
              claiming.delete(claim.gid) ? store.claim(claim) : { type: 'refused', reason: 'held' },
            )
          },
        }),
      )
    },
  },
  'serves one process before the other': {
    caughtBy: 'write against write',
    because: /one process wins nearly all/,
    route: () => {
      const route = routeTo(memoryStore())
      return async (call, connection) => {
        if (connection === 2) await delay(30)
        return route(call, connection)
      }
    },
  },
  'judges leases by the clocks of its callers': {
    caughtBy: 'clocks',
    because: /is set by another clock/,
    route: () => {
      let callerNow = 0
      const route = routeTo(memoryStore({ now: () => callerNow }))
      return (call, connection) => {
        callerNow = call.callerNow
        return route(call, connection)
      }
    },
  },
}

function savesLate(): Store {
  const store = memoryStore()
  return rewire(store, {
    update: async (update) => {
      const [row] = await store.readMany([update.gid])
      const result = await later(() => store.update(update))
      return result.type === 'conflict' && row?.version === update.version
        ? { type: 'saved', version: result.version, now: Date.now() }
        : result
    },
  })
}

/** Waits until the other process's call has come in too. */
async function later<T>(call: () => Promise<T>): Promise<T> {
  await delay(5)
  return call()
}
