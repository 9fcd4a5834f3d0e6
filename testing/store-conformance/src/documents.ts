import assert from 'node:assert/strict'
import type { DocumentWrite, Store, StoredDocument } from '@counterstep/core'
import { drawToken } from './transactions.ts'

export const CATEGORY = 'topics'

/** Makes a document that must not exist yet. */
export function aDocument(key: string, change: Partial<DocumentWrite> = {}): DocumentWrite {
  return { category: CATEGORY, key, text: 'text', expectedVersion: 0, writeId: drawToken(), ...change }
}

export async function readDocumentMap(store: Store): Promise<ReadonlyMap<string, StoredDocument>> {
  return new Map((await store.readDocuments(CATEGORY)).map((document) => [document.key, document]))
}

export async function writeAndRead(store: Store, write: DocumentWrite): Promise<StoredDocument> {
  const version = write.expectedVersion + 1
  assert.deepEqual(await store.writeDocument(write), { type: 'written', version })
  const document = (await store.readDocuments(write.category)).find(({ key }) => key === write.key)
  assert.ok(document !== undefined, `no document ${write.key}`)
  assert.deepEqual([document.text, document.version], [write.text, version])
  return document
}
