import { describe, expect, it } from 'vitest'
import { columnToText, textToColumn } from './nul-text.ts'

describe('a text in a column', () => {
  it.each(['', '\0', 'a\0b', '\u0001', '\u00010', '\u00011\0', '\0\u0001\0\u0001\u0001', '0\u00011'])(
    'A text in a column has no NUL, and is given back: %j',
    (text) => {
      expect(textToColumn(text)).not.toContain('\0')
      expect(columnToText(textToColumn(text))).toBe(text)
    },
  )

  it('JSON is written to a column as it is, whatever the JSON says', () => {
    const json = JSON.stringify({ a: '\0\u0001ä💶\u001f' })
    expect(textToColumn(json)).toBe(json)
    expect(columnToText(json)).toBe(json)
  })
})
