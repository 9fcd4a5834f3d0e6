import type { Store, StoredTransaction } from '@counterstep/core'
import { memoryStore } from '../src/memory-store.ts'
import type { BrokenStore } from './broken-stores.ts'
import { rewire } from './rewire.ts'

/** The contract leaves open how far a version rises, but it forbids these ways. */
export const BROKEN_VERSIONS: Readonly<Record<string, BrokenStore>> = {
  'lets the version stay at an update and a claim': {
    caughtBy: ['update', 'claim', 'concurrency'],
    open: (now) => memoryStore({ now, raise: (version) => version }),
  },
  'lets the version stay at a claim': {
    caughtBy: ['claim', 'hold'],
    open: (now) => moving(now, ({ verb, shift }) => (verb === 'claimed' ? shift - 1 : shift)),
  },
  'answers an update with a version that is not stored': {
    caughtBy: ['update', 'concurrency', 'close'],
    open: (now) => {
      const store = memoryStore({ now })
      return rewire(store, {
        update: async (update) => {
          const result = await store.update(update)
          return result.type === 'saved' ? { ...result, version: result.version + 1 } : result
        },
      })
    },
  },
  'raises the version when a write is sent again': {
    caughtBy: ['update'],
    open: (now) => moving(now, ({ verb, shift }) => (verb === 'repeated' ? shift + 1 : shift)),
  },
  'raises the version when a write is refused': {
    caughtBy: ['update', 'hold'],
    open: (now) => moving(now, ({ verb, shift }) => (verb === 'refused' ? shift + 1 : shift)),
  },
  'raises the version when a lease is renewed': {
    caughtBy: ['renew'],
    open: (now) => moving(now, ({ verb, shift }) => (verb === 'renewed' ? shift + 1 : shift)),
  },
  'answers a conflict with the version that the writer knew': {
    caughtBy: ['update', 'hold', 'concurrency'],
    open: (now) => {
      const store = memoryStore({ now })
      return rewire(store, {
        update: async (update) => {
          const result = await store.update(update)
          return result.type === 'conflict' ? { ...result, version: update.version } : result
        },
      })
    },
  },
}

interface Move {
  readonly verb: 'claimed' | 'repeated' | 'refused' | 'renewed'
  readonly shift: number
}

/** The reference store with versions that a fault moves. Callers see the true version plus the shift. */
function moving(now: () => number, next: (move: Move) => number): Store {
  const store = memoryStore({ now })
  const shifts = new Map<string, number>()
  const readShift = (gid: string) => shifts.get(gid) ?? 0
  const move = (verb: Move['verb'], gid: string) => shifts.set(gid, next({ verb, shift: readShift(gid) }))
  const seen = <T extends { gid: string; version: number }>(row: T): T => ({
    ...row,
    version: row.version + readShift(row.gid),
  })
  const take = (row: StoredTransaction) => {
    move('claimed', row.gid)
    return seen(row)
  }
  return rewire(store, {
    readMany: async (gids) => (await store.readMany(gids)).map(seen),
    update: async (update) => {
      const [row] = await store.readMany([update.gid])
      const result = await store.update({ ...update, version: update.version - readShift(update.gid) })
      if (result.type === 'saved' && row?.writeId === update.writeId) move('repeated', update.gid)
      if (result.type === 'conflict') move('refused', update.gid)
      return 'version' in result ? seen({ ...result, gid: update.gid }) : result
    },
    renew: async (leases, leaseMs) => {
      const result = await store.renew(leases, leaseMs)
      for (const { gid } of result.renewed) move('renewed', gid)
      return { ...result, renewed: result.renewed.map(seen) }
    },
    claimDue: async (claim) => {
      const result = await store.claimDue(claim)
      return { ...result, claimed: result.claimed.map(take) }
    },
    claim: async (claim) => {
      const result = await store.claim(claim)
      return result.type === 'claimed' ? { ...result, transaction: take(result.transaction) } : result
    },
  })
}
