import { DOCUMENTS_MAX, type DocumentWrite, type Store } from '@counterstep/core'
import { memoryStore } from '../src/memory-store.ts'
import type { BrokenStore } from './broken-stores.ts'
import { rewire } from './rewire.ts'

/** Each is the reference store with one realistic fault in its documents. */
export const BROKEN_DOCUMENTS: Readonly<Record<string, BrokenStore>> = {
  'writes a document whatever its version': {
    caughtBy: ['documents', 'document races'],
    open: (now) =>
      wrap(now, (store) => ({
        writeDocument: async (write) =>
          store.writeDocument({ ...write, expectedVersion: await readVersion(store, write) }),
      })),
  },
  'does not know the write of a document by its writeId': {
    caughtBy: ['documents', 'document races'],
    open: (now) => {
      let sent = 0
      return wrap(now, (store) => ({
        writeDocument: (write) => {
          sent += 1
          return store.writeDocument({ ...write, writeId: `sent-${sent}` })
        },
      }))
    },
  },
  'removes a document whatever its version': {
    caughtBy: ['documents', 'document races'],
    open: (now) =>
      wrap(now, (store) => ({
        removeDocument: async (removal) => {
          const version = await readVersion(store, removal)
          return store.removeDocument({ ...removal, expectedVersion: Math.max(1, version) })
        },
      })),
  },
  'orders documents as JavaScript orders texts': {
    caughtBy: ['documents'],
    open: (now) =>
      wrap(now, (store) => ({
        readDocuments: async (category) =>
          (await store.readDocuments(category)).toSorted((a, b) => (a.key < b.key ? -1 : 1)),
      })),
  },
  'compares keys without their case': {
    caughtBy: ['documents'],
    open: (now) =>
      wrap(now, (store) => ({
        writeDocument: (write) => store.writeDocument({ ...write, key: write.key.toLowerCase() }),
      })),
  },
  'looks first whether a category has room': {
    caughtBy: ['document races'],
    open: (now) => {
      const spill = memoryStore({ now })
      return wrap(now, (store) => ({
        readDocuments: async (category) => [
          ...(await store.readDocuments(category)),
          ...(await spill.readDocuments(category)),
        ],
        writeDocument: async (write) => {
          const { length } = await store.readDocuments(write.category)
          await new Promise(setImmediate)
          const result = await store.writeDocument(write)
          return result.type === 'full' && length < DOCUMENTS_MAX ? spill.writeDocument(write) : result
        },
      }))
    },
  },
  'cuts the read of a category short': {
    caughtBy: ['documents'],
    open: (now) =>
      wrap(now, (store) => ({
        readDocuments: async (category) => (await store.readDocuments(category)).slice(0, 64),
      })),
  },
}

function wrap(now: () => number, change: (store: Store) => Partial<Store>): Store {
  const store = memoryStore({ now })
  return rewire(store, change(store))
}

async function readVersion(store: Store, { category, key }: Pick<DocumentWrite, 'category' | 'key'>) {
  const documents = await store.readDocuments(category)
  return documents.find((document) => document.key === key)?.version ?? 0
}
