import { POSTPONE_MAX, type Store, type StoredTransaction } from '@counterstep/core'
import { memoryStore } from '../src/memory-store.ts'
import { drawTokens, FORMAT, makeUpdate } from '../src/transactions.ts'
import type { BrokenStore } from './broken-stores.ts'
import { rewire } from './rewire.ts'

/** Each is a realistic but wrong way to hand rows on. */
export const BROKEN_POSTPONEMENTS: Readonly<Record<string, BrokenStore>> = {
  'postpones by a claim that it gives back': {
    caughtBy: ['postpone'],
    open: (now) =>
      wrap(now, (store) => ({
        postponeDue: async ({ limit, byMs, formatMax }) => {
          const tokens = drawTokens(Math.min(limit, 100))
          const claim = { limit: tokens.length, leaseMs: byMs, tokens, formatMax }
          const { now, claimed } = await store.claimDue(claim)
          for (const row of claimed) {
            await store.update(makeUpdate(row, { type: 'release', dueAt: row.dueAt }))
          }
          return { now, gids: claimed.map(({ gid }) => gid) }
        },
      })),
  },
  'leaves an owner the hold of a row that it postpones': {
    caughtBy: ['postpone'],
    open: (now) => {
      const leases = new Map<string, StoredTransaction>()
      return wrap(now, (store) => ({
        claim: async (claim) => {
          const result = await store.claim(claim)
          if (result.type === 'claimed') leases.set(claim.gid, result.transaction)
          return result
        },
        readMany: async (gids) =>
          (await store.readMany(gids)).map((row) =>
            leases.get(row.gid)?.token === row.token ? { ...row, owned: true } : row,
          ),
        renew: async (given, leaseMs) => {
          const result = await store.renew(given, leaseMs)
          const kept = result.lost.filter((gid) => leases.has(gid))
          const rows = await store.readMany(kept)
          return { ...result, lost: [], renewed: [...result.renewed, ...rows] }
        },
      }))
    },
  },
  'names what it postpones and leaves it due': {
    caughtBy: ['postpone'],
    open: (now) => {
      const copy = memoryStore({ now })
      return wrap(now, (store) => ({
        create: async (transaction) => {
          await copy.create(transaction)
          return store.create(transaction)
        },
        postponeDue: (postponement) => copy.postponeDue(postponement),
      }))
    },
  },
  'postpones the newest first': {
    caughtBy: ['postpone'],
    open: (now) =>
      wrap(now, (store) => ({
        postponeDue: async ({ limit, ...postponement }) => {
          const all = await store.postponeDue({ ...postponement, limit: limit === 0 ? 0 : POSTPONE_MAX })
          return { ...all, gids: [...all.gids].reverse() }
        },
      })),
  },
  'postpones one millisecond early': {
    caughtBy: ['postpone'],
    open: (now) => postponesAt(now, 1),
  },
  'postpones one millisecond late': {
    caughtBy: ['postpone'],
    open: (now) => postponesAt(now, -1),
  },
  'postpones rows of a newer format': {
    caughtBy: ['postpone'],
    open: (now) =>
      wrap(now, (store) => ({
        postponeDue: (postponement) => store.postponeDue({ ...postponement, formatMax: FORMAT + 1 }),
      })),
  },
  'holds what it postpones against a claim': {
    caughtBy: ['postpone'],
    open: (now) => {
      const until = new Map<string, number>()
      return wrap(now, (store) => ({
        postponeDue: async (postponement) => {
          const result = await store.postponeDue(postponement)
          for (const gid of result.gids) until.set(gid, result.now + postponement.byMs)
          return result
        },
        claim: async (claim) =>
          (until.get(claim.gid) ?? 0) > now() ? { type: 'refused', reason: 'held' } : store.claim(claim),
      }))
    },
  },
  'fences a former owner when it postpones': {
    caughtBy: ['postpone'],
    open: (now) => {
      const fenced = new Map<string, string>()
      return wrap(now, (store) => ({
        postponeDue: async (postponement) => {
          const result = await store.postponeDue(postponement)
          for (const row of await store.readMany(result.gids)) fenced.set(row.gid, row.token)
          return result
        },
        update: async (update) =>
          fenced.get(update.gid) === update.token ? { type: 'fenced' } : store.update(update),
      }))
    },
  },
}

function wrap(now: () => number, change: (store: Store) => Partial<Store>): Store {
  const store = memoryStore({ now })
  return rewire(store, change(store))
}

function postponesAt(now: () => number, byMs: number): Store {
  let offMs = 0
  const store = memoryStore({ now: () => now() + offMs })
  return rewire(store, {
    postponeDue: (postponement) => {
      // The reference reads its clock before its first await, so the offset affects only this call.
      offMs = byMs
      const result = store.postponeDue({ ...postponement, byMs: postponement.byMs - byMs })
      offMs = 0
      return result
    },
  })
}
