import { LIST_SCAN_MAX, type ListedTransaction, type ListQuery, type Store } from '@counterstep/core'
import { memoryStore } from '../src/memory-store.ts'
import type { BrokenStore } from './broken-stores.ts'
import { rewire } from './rewire.ts'

/** Each has one realistic fault in how it finds rows by their tags. */
export const BROKEN_TAGS: Readonly<Record<string, BrokenStore>> = {
  'looks for a tag among the newest rows alone': {
    caughtBy: ['list'],
    open: (now) =>
      wrapList(now, async (store, query) => {
        const { tags, ...others } = query
        if (tags === undefined || query.order !== undefined) return store.list(query)
        const scanned = await store.list({ ...others, limit: LIST_SCAN_MAX })
        const found = scanned.items.filter((item) => hasTags(item, tags))
        const items = found.slice(0, query.limit)
        const last = items.at(-1)
        const cursor =
          found.length > items.length && last ? { at: last.createdAt, gid: last.gid } : scanned.cursor
        return { items, ...(cursor && { cursor }) }
      }),
  },
  'finds a row by one of several tags': {
    caughtBy: ['tags', 'list filters'],
    open: (now) =>
      wrapList(now, (store, { tags = {}, ...query }) =>
        store.list({ ...query, tags: Object.fromEntries(Object.entries(tags).slice(0, 1)) }),
      ),
  },
  'keeps the entries of a gid that is used again': {
    caughtBy: ['tags'],
    open: (now) => {
      const store = memoryStore({ now })
      const everTagged = new Map<string, Readonly<Record<string, string>>>()
      return rewire(store, {
        create: (transaction) => {
          everTagged.set(transaction.gid, { ...transaction.tags, ...everTagged.get(transaction.gid) })
          return store.create(transaction)
        },
        list: async (query) => {
          const { tags, ...others } = query
          if (tags === undefined) return store.list(query)
          const page = await store.list({ ...others, limit: LIST_SCAN_MAX })
          const items = page.items.filter(({ gid }) => hasTags({ tags: everTagged.get(gid) ?? {} }, tags))
          return { ...page, items: items.slice(0, query.limit) }
        },
      })
    },
  },
  'takes a tag in capitals for the same': {
    caughtBy: ['tags', 'list filters'],
    open: (now) =>
      wrapList(now, async (store, { tags = {}, ...query }) => {
        const page = await store.list({ ...query, limit: LIST_SCAN_MAX })
        const lower = (words: object) => JSON.parse(JSON.stringify(words).toLowerCase())
        const items = page.items.filter((item) => hasTags({ tags: lower(item.tags ?? {}) }, lower(tags)))
        return { items: items.slice(0, query.limit) }
      }),
  },
}

function hasTags(item: Pick<ListedTransaction, 'tags'>, tags: Readonly<Record<string, string>>): boolean {
  return Object.entries(tags).every(([key, value]) => item.tags?.[key] === value)
}

function wrapList(
  now: () => number,
  list: (store: Store, query: ListQuery) => ReturnType<Store['list']>,
): Store {
  const store = memoryStore({ now })
  return rewire(store, { list: (query) => list(store, query) })
}
