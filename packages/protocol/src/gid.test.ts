import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isBranchId, isGid } from './gid.ts'
import { BRANCH_ID_LENGTH_MAX, GID_LENGTH_MAX } from './limits.ts'

/** These are the characters up to U+00FF. */
const CHARACTERS = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code))

describe('a gid', () => {
  it('A gid is made of printable ASCII without space, quotes, backslash and semicolon', () => {
    const allowed = CHARACTERS.filter((character) => isGid(`a${character}`))
    const printable = CHARACTERS.slice(0x21, 0x7f)
    expect(allowed).toEqual(printable.filter((character) => !`"';\\`.includes(character)))
  })

  it('A gid has 1 to 128 characters', () => {
    expect(GID_LENGTH_MAX).toBe(128)
    expect([0, 1, 128, 129].map((length) => isGid('g'.repeat(length)))).toEqual([false, true, true, false])
  })

  it('A gid is not a path step that a URL would swallow', () => {
    expect(['.', '..', '...', '.a', 'a.', '..a'].map(isGid)).toEqual([false, false, true, true, true, true])
  })

  it('A gid has no line end, where a pattern could stop', () => {
    expect(['a\n', '\na', 'a\r\n', 'a\u2028'].map(isGid)).toEqual([false, false, false, false])
  })

  it('A gid is a text and nothing that looks like one', () => {
    for (const value of [undefined, null, 7, true, ['a'], { length: 1 }, { toString: () => 'a' }]) {
      expect(isGid(value)).toBe(false)
    }
  })

  it('A gid survives a URL, so that GET finds what submit stored', () => {
    const gids = fc.string({ unit: fc.constantFrom(...CHARACTERS), minLength: 1, maxLength: 8 }).filter(isGid)
    fc.assert(
      fc.property(gids, (gid) => {
        const url = new URL(`http://localhost/v1/transactions/${encodeURIComponent(gid)}`)
        expect(decodeURIComponent(url.pathname.split('/').at(-1) ?? '')).toBe(gid)
      }),
    )
  })
})

describe('a branch id', () => {
  it('A branch id is made of letters, digits, dot, underscore, colon and hyphen', () => {
    expect(CHARACTERS.filter((each) => isBranchId(`b${each}`)).join('')).toBe(
      '-.0123456789:ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz',
    )
  })

  it('A branch id is no step that clients remove from a path', () => {
    expect(['.', '..', '...', '.a'].map(isBranchId)).toEqual([false, false, true, true])
  })

  it('A branch id has 1 to 64 characters', () => {
    expect(BRANCH_ID_LENGTH_MAX).toBe(64)
    expect([0, 1, 64, 65].map((length) => isBranchId('b'.repeat(length)))).toEqual([false, true, true, false])
  })

  it('A branch id is a text of one line', () => {
    expect([undefined, null, 1, ['a'], 'a\n'].map(isBranchId)).toEqual([false, false, false, false, false])
  })
})
