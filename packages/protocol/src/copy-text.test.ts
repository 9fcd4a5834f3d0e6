import { expect, it } from 'vitest'
import { copyText } from './copy-text.ts'

it.each(['', 'a', 'a"\\\n\u0000\u2028é€', 'half of a pair: \ud83d', '𝒳'.repeat(1_000)])(
  'A copy is equal to its text %#',
  (text) => {
    expect(copyText(text)).toBe(text)
  },
)
