import { type ListQuery, OTHER_PROBLEMS, type Store } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { memoryStore } from '../src/memory-store.ts'
import type { BrokenStore } from './broken-stores.ts'
import { rewire } from './rewire.ts'

/** Each has one realistic fault in the columns by which rows are found. */
export const BROKEN_TROUBLE: Readonly<Record<string, BrokenStore>> = {
  'keeps a problem that is over': {
    caughtBy: ['found by', 'stats'],
    open: (now) =>
      wrap(now, (store) => ({
        update: async (update) => {
          const [{ problem } = { problem: undefined }] = await store.readMany([update.gid])
          return store.update({ ...(problem !== undefined && { problem }), ...update })
        },
      })),
  },
  'loses the name when it claims': {
    caughtBy: ['found by'],
    open: (now) =>
      wrap(now, (store) => ({
        claim: async (claim) => {
          const result = await store.claim(claim)
          if (result.type === 'refused') return result
          const { name: _, ...transaction } = result.transaction
          return { ...result, transaction }
        },
      })),
  },
  'finds a tag by the beginning of its value': {
    caughtBy: ['list filters'],
    open: (now) =>
      wrapList(now, async (store, { tags = {}, ...query }) => {
        const page = await store.list(query)
        const hasTags = (item: (typeof page.items)[number]) =>
          Object.entries(tags).every(([key, value]) => item.tags?.[key]?.startsWith(value))
        return { ...page, items: page.items.filter(hasTags) }
      }),
  },
  'reads a percent sign in a prefix as any text': {
    caughtBy: ['list filters'],
    open: (now) =>
      wrapList(now, (store, { gidPrefix, ...query }) =>
        store.list(gidPrefix === '%' ? query : { ...query, ...(gidPrefix !== undefined && { gidPrefix }) }),
      ),
  },
  'goes on behind the instant of the cursor, not behind its row': {
    caughtBy: ['due order'],
    open: (now) =>
      wrapList(now, (store, query) => {
        const { cursor, order } = query
        if (cursor === undefined || order === undefined) return store.list(query)
        return store.list({ ...query, cursor: { ...cursor, gid: (order === 'due' ? '~~' : '') as Gid } })
      }),
  },
  'lists finished rows in the order of the due instant': {
    caughtBy: ['due order'],
    open: (now) =>
      wrapList(now, async (store, query) => {
        const page = await store.list(query)
        if (query.order === undefined || page.cursor !== undefined) return page
        const { items } = await store.list({ limit: 100, status: ['succeeded'] })
        return { items: [...page.items, ...items].slice(0, query.limit) }
      }),
  },
  'drops the problems beyond the bound': {
    caughtBy: ['stats'],
    open: (now) =>
      wrap(now, (store) => ({
        stats: async () => {
          const stats = await store.stats()
          return { ...stats, problems: stats.problems.filter(({ problem }) => problem !== OTHER_PROBLEMS) }
        },
      })),
  },
}

function wrap(now: () => number, change: (store: Store) => Partial<Store>): Store {
  const store = memoryStore({ now })
  return rewire(store, change(store))
}

function wrapList(
  now: () => number,
  list: (store: Store, query: ListQuery) => ReturnType<Store['list']>,
): Store {
  return wrap(now, (store) => ({ list: (query) => list(store, query) }))
}
