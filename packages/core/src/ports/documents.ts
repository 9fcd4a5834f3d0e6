/**
 * Documents are small shared texts beside the transactions, such as the
 * topics of the DTM dialect. This file has their limits.
 */
import { assert } from '../errors.ts'
import { isWellFormed, utf8Length } from '../submission/utf8-length.ts'

export const DOCUMENTS_MAX = 1_000
export const DOCUMENT_CATEGORY_CHARACTERS_MAX = 32
export const DOCUMENT_KEY_CHARACTERS_MAX = 128
export const DOCUMENT_TEXT_BYTES_MAX = 64 * 1024

const CATEGORY = new RegExp(`^[a-z-]{1,${DOCUMENT_CATEGORY_CHARACTERS_MAX}}$`)
/**
 * Keys may use any script, since people name topics. They have no invisible
 * characters, which would make two names look alike.
 */
const KEY = new RegExp(`^[^\\p{C}\\p{Zl}\\p{Zp}]{1,${DOCUMENT_KEY_CHARACTERS_MAX}}$`, 'u')
const WRITE_ID = /^[A-Za-z0-9-]{1,32}$/

export interface StoredDocument {
  readonly category: string
  readonly key: string
  readonly text: string
  /** It is 1 when created and one more with each write. A removed document that is created again begins at 1. */
  readonly version: number
  readonly updatedAt: number
}

export interface DocumentWrite {
  /** It has 1–32 characters of a-z and -. */
  readonly category: string
  /** It has 1–128 visible characters or spaces of any script. Keys are compared by their bytes. */
  readonly key: string
  /** It has at most DOCUMENT_TEXT_BYTES_MAX bytes in UTF-8, and no lone surrogates. */
  readonly text: string
  /** The version that the writer knows. 0: the document must not exist. */
  readonly expectedVersion: number
  /** It has 1–32 characters of A-Z a-z 0-9 -, and is never repeated. */
  readonly writeId: string
}

export type DocumentWriteResult =
  | { readonly type: 'written'; readonly version: number }
  /** The version that the store has. 0: the document does not exist. */
  | { readonly type: 'conflict'; readonly version: number }
  /** The category has DOCUMENTS_MAX documents, so none can be added until one is removed. */
  | { readonly type: 'full' }

export interface DocumentRemoval {
  readonly category: string
  readonly key: string
  readonly expectedVersion: number
}

export type DocumentRemovalResult =
  | { readonly type: 'removed' }
  | { readonly type: 'conflict'; readonly version: number }
  /** A removal that is sent a second time gets this answer, too. */
  | { readonly type: 'absent' }

/** Hosts check keys from outside with this function. The stores only assert that it returns true. */
export function isDocumentKey(key: string): boolean {
  return KEY.test(key)
}

/** Hosts check texts from outside with this function. The stores only assert that it returns true. */
export function isDocumentText(text: string): boolean {
  return isWellFormed(text) && utf8Length(text, DOCUMENT_TEXT_BYTES_MAX) <= DOCUMENT_TEXT_BYTES_MAX
}

export function assertDocumentCategory(category: string): void {
  assert(CATEGORY.test(category), 'a document category that is not 1–32 characters of a-z and -')
}

export function assertDocumentWrite(write: DocumentWrite): void {
  assertDocumentCategory(write.category)
  assertKey(write.key)
  assert(
    typeof write.text === 'string' && isDocumentText(write.text),
    'writeDocument: no text, or too long a one',
  )
  assert(isVersion(write.expectedVersion), 'writeDocument: no version')
  assert(WRITE_ID.test(write.writeId), 'writeDocument: no writeId')
}

export function assertDocumentRemoval({ category, key, expectedVersion }: DocumentRemoval): void {
  assertDocumentCategory(category)
  assertKey(key)
  assert(isVersion(expectedVersion) && expectedVersion > 0, 'removeDocument: no version that can be there')
}

/**
 * Compares in the order of UTF-8 bytes. JavaScript's own order differs, because it puts surrogates below U+E000–U+FFFF.
 */
export function compareByBytes(left: string, right: string): number {
  const length = Math.min(left.length, right.length)
  for (let i = 0; i < length; i++) {
    const difference = toByteRank(left.charCodeAt(i)) - toByteRank(right.charCodeAt(i))
    if (difference !== 0) return difference
  }
  return left.length - right.length
}

function assertKey(key: string): void {
  assert(typeof key === 'string' && isDocumentKey(key), 'a document key that is not 1–128 visible characters')
}

function isVersion(version: number): boolean {
  return Number.isSafeInteger(version) && version >= 0
}

function toByteRank(unit: number): number {
  if (unit < 0xd800) return unit
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800
}
