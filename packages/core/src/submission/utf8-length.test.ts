import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isWellFormed, utf8Length } from './utf8-length.ts'

const encoder = new TextEncoder()

function isOver(text: string, max: number): boolean {
  return utf8Length(text, max) > max
}

describe('the length in UTF-8', () => {
  it('The length is over a limit exactly where the encoded bytes are', () => {
    const texts = fc.string({ unit: 'binary', maxLength: 40 }).filter(isWellFormed)
    fc.assert(
      fc.property(texts, fc.nat(160), (text, max) => {
        expect(isOver(text, max)).toBe(encoder.encode(text).length > max)
      }),
    )
  })

  for (const character of [
    '\u007f',
    '\u0080',
    '\u07ff',
    '\u0800',
    '\ud7ff',
    '\ue000',
    '\uffff',
    '\u{10000}',
    '\u{10ffff}',
  ]) {
    it(`is right at the border U+${character.codePointAt(0)?.toString(16)}`, () => {
      const text = character.repeat(10)
      const bytes = encoder.encode(text).length
      expect([isOver(text, bytes), isOver(text, bytes - 1)]).toEqual([false, true])
    })
  }

  it('Texts with lone surrogates are found', () => {
    expect(['\ud800', 'a\udfff', '\udc00\ud800', '💶', ''].map(isWellFormed)).toEqual([
      false,
      false,
      false,
      true,
      true,
    ])
  })
})
