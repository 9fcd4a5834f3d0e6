import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  assertDocumentCategory,
  assertDocumentRemoval,
  assertDocumentWrite,
  compareByBytes,
  DOCUMENT_TEXT_BYTES_MAX,
  type DocumentWrite,
  isDocumentKey,
} from './documents.ts'

const WRITE: DocumentWrite = { category: 'topics', key: 'k', text: '', expectedVersion: 0, writeId: 'w-1' }

describe('a document', () => {
  it('A document key may use any script, but no invisible characters', () => {
    const keys = ['a', '订单 完成', 'a b', '{}:*?/%', '💶', 'e\u0301', '💶'.repeat(128)]
    for (const key of keys) expect(isDocumentKey(key), key).toBe(true)
    const none = ['', 'a\n', 'a\u0000', '\u007f', 'a\u200bb', '\ud800', '\u2028', 'a'.repeat(129), '\ufeff']
    for (const key of none) expect(isDocumentKey(key), JSON.stringify(key)).toBe(false)
  })

  it('A document is taken at each limit and refused beyond it', () => {
    const text = 'ä'.repeat(DOCUMENT_TEXT_BYTES_MAX / 2)
    for (const change of [{ text }, { category: 'a'.repeat(32) }, { writeId: 'w'.repeat(32) }]) {
      expect(() => assertDocumentWrite({ ...WRITE, ...change })).not.toThrow()
    }
    const wrong: readonly Partial<DocumentWrite>[] = [
      { text: `${text}a` },
      { text: '\ud800' },
      { category: 'a'.repeat(33) },
      { category: 'Topics' },
      { category: '' },
      { key: 'a\t' },
      { expectedVersion: -1 },
      { expectedVersion: 0.5 },
      { writeId: 'w'.repeat(33) },
      { writeId: 'a b' },
    ]
    for (const change of wrong) {
      expect(() => assertDocumentWrite({ ...WRITE, ...change }), JSON.stringify(change)).toThrow()
    }
    expect(() => assertDocumentRemoval({ ...WRITE, expectedVersion: 0 })).toThrow()
    expect(() => assertDocumentRemoval({ ...WRITE, expectedVersion: 1 })).not.toThrow()
    expect(() => assertDocumentCategory('a\n')).toThrow()
  })

  it('Documents are ordered by the bytes of their keys', () => {
    const encoder = new TextEncoder()
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '\ud7ff', '\ue000', '\uffff', '💶', '😀') })
    fc.assert(
      fc.property(text, text, (left, right) => {
        const byBytes = Buffer.compare(encoder.encode(left), encoder.encode(right))
        expect(Math.sign(compareByBytes(left, right))).toBe(byBytes)
      }),
    )
  })
})
