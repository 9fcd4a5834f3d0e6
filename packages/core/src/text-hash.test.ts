import { expect, it } from 'vitest'
import { textHash } from './text-hash.ts'

// These values come from the algorithm's authors: http://www.isthe.com/chongo/tech/comp/fnv/
for (const [text, hash] of [
  ['', 0x811c9dc5],
  ['a', 0xe40c292c],
  ['foobar', 0xbf9cf968],
] as const) {
  it(`hashes '${text}' as FNV-1a does`, () => {
    expect(textHash(text)).toBe(hash)
  })
}
