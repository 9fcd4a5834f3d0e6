import type { Store, StoredTransaction, TransactionUpdate } from '@counterstep/core'
import { memoryStore } from '../src/memory-store.ts'
import { aTransaction } from '../src/transactions.ts'
import { rewire } from './rewire.ts'

export interface BrokenStore {
  /** The topics whose tests must catch the fault. Others may catch it too. */
  readonly caughtBy: readonly string[]
  readonly open: (now: () => number) => Store
}

/** Each is the reference store with one realistic fault. */
export const BROKEN_STORES: Readonly<Record<string, BrokenStore>> = {
  'ignores the token': {
    caughtBy: ['update', 'claim'],
    open: (now) => wrapUpdate(now, (row, update) => ({ ...update, token: row.token })),
  },
  'ignores the version': {
    caughtBy: ['update', 'hold'],
    open: (now) => wrapUpdate(now, (row, update) => ({ ...update, version: row.version })),
  },
  'does not know a write by its writeId': {
    caughtBy: ['create', 'update', 'concurrency'],
    open: (now) => {
      let sent = 0
      const rename = (writeId: string) => `${writeId.slice(-20)}-${sent++}`
      return wrap(now, (store) => ({
        create: (transaction) => store.create({ ...transaction, writeId: rename(transaction.writeId) }),
        update: (update) => store.update({ ...update, writeId: rename(update.writeId) }),
      }))
    },
  },
  'takes a repeated writeId for its own under any token': {
    caughtBy: ['update'],
    open: (now) =>
      wrapUpdate(now, (row, update) => ({
        ...update,
        ...(row.writeId === update.writeId && { token: row.token }),
      })),
  },
  'claims a row twice': {
    caughtBy: ['claim', 'concurrency'],
    open: (now) => {
      let last: readonly StoredTransaction[] = []
      return wrap(now, (store) => ({
        claimDue: async (claim) => {
          const result = await store.claimDue(claim)
          const claimed = result.claimed.length > 0 ? result.claimed : last.slice(0, claim.limit)
          last = claimed
          return { ...result, claimed }
        },
      }))
    },
  },
  'claims the newest first': {
    caughtBy: ['claim'],
    open: (now) =>
      wrap(now, (store) => ({
        claimDue: async (claim) => {
          const all = await store.claimDue({ ...claim, limit: claim.tokens.length })
          return { ...all, claimed: [...all.claimed].reverse() }
        },
      })),
  },
  'judges a lease to run at its last instant': {
    caughtBy: ['claim'],
    open: (now) => clockWrong(now, -1, ['claim', 'claimDue']),
  },
  'ends a lease one millisecond early': {
    caughtBy: ['claim'],
    open: (now) => clockWrong(now, 1, ['claim', 'claimDue']),
  },
  'purges unfinished rows': {
    caughtBy: ['purge'],
    open: (now) => {
      let hasPurged = false
      return wrap(now, (store) => ({
        purgeFinished: (limit) => {
          hasPurged = true
          return store.purgeFinished(limit)
        },
        readMany: async (gids) => {
          const rows = await store.readMany(gids)
          return hasPurged ? rows.filter((row) => row.status === 'succeeded') : rows
        },
      }))
    },
  },
  'purges before the retention is over': {
    caughtBy: ['purge'],
    open: (now) => clockWrong(now, 1, ['purgeFinished']),
  },
  'lets a create write over what exists': {
    caughtBy: ['create', 'concurrency'],
    open: (now) => {
      const lost = new Map<string, Store>()
      return wrap(now, (store) => ({
        create: async (transaction) => {
          const fresh = memoryStore({ now })
          lost.set(transaction.gid, fresh)
          await store.create(transaction)
          return fresh.create(transaction)
        },
        readMany: async (gids) =>
          (await Promise.all(gids.map((gid) => (lost.get(gid) ?? store).readMany([gid])))).flat(),
      }))
    },
  },
  'lets an update bring back a row that is gone': {
    caughtBy: ['update'],
    open: (now) =>
      wrap(now, (store) => ({
        update: async (update) => {
          const result = await store.update(update)
          if (result.type === 'absent') await store.create(aTransaction(update.gid))
          return result
        },
      })),
  },
  'compares gids without their case': {
    caughtBy: ['create'],
    open: (now) =>
      wrap(now, (store) => ({
        create: (transaction) =>
          store.create({ ...transaction, gid: transaction.gid.toLowerCase() as typeof transaction.gid }),
      })),
  },
  'cuts a text at its NUL': {
    caughtBy: ['payload'],
    open: (now) =>
      wrap(now, (store) => ({
        create: (transaction) =>
          store.create({ ...transaction, definition: transaction.definition.split('\0')[0] ?? '' }),
      })),
  },
  'repeats the last row of a page on the next': {
    caughtBy: ['list'],
    open: (now) =>
      wrap(now, (store) => ({
        list: (query) =>
          store.list(
            query.cursor
              ? {
                  ...query,
                  cursor: { ...query.cursor, gid: `${query.cursor.gid}!` as typeof query.cursor.gid },
                }
              : query,
          ),
      })),
  },
  'renews a lease that is lost': {
    caughtBy: ['claim', 'renew'],
    open: (now) =>
      wrap(now, (store) => ({
        renew: async (leases, leaseMs) => ({
          ...(await store.renew(leases, leaseMs)),
          renewed: leases.map(({ gid }) => ({ gid, version: 1 })),
          lost: [],
        }),
      })),
  },
  'answers after close': {
    caughtBy: ['close'],
    open: (now) => wrap(now, () => ({ close: async () => undefined })),
  },
}

function wrap(now: () => number, change: (store: Store) => Partial<Store>): Store {
  const store = memoryStore({ now })
  return rewire(store, change(store))
}

function wrapUpdate(
  now: () => number,
  change: (row: StoredTransaction, update: TransactionUpdate) => TransactionUpdate,
): Store {
  return wrap(now, (store) => ({
    update: async (update) => {
      const [row] = await store.readMany([update.gid])
      return store.update(row === undefined ? update : change(row, update))
    },
  }))
}

function clockWrong(
  now: () => number,
  byMs: number,
  methods: readonly ('claim' | 'claimDue' | 'purgeFinished')[],
): Store {
  let offMs = 0
  // The reference reads its clock before its first await, so the offset affects only this call.
  const off = <T>(name: (typeof methods)[number], call: () => Promise<T>): Promise<T> => {
    offMs = methods.includes(name) ? byMs : 0
    const result = call()
    offMs = 0
    return result
  }
  return wrap(
    () => now() + offMs,
    (store) => ({
      claim: (claim) => off('claim', () => store.claim(claim)),
      claimDue: (claim) => off('claimDue', () => store.claimDue(claim)),
      purgeFinished: (limit) => off('purgeFinished', () => store.purgeFinished(limit)),
    }),
  )
}
