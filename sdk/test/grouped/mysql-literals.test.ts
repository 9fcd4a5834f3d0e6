import { expect, it } from 'vitest'
import { hex } from '../../src/grouped/mysql/mysql-literals.ts'

it.each([
  ['nothing', '', "x''"],
  ['ASCII', '01', "x'3031'"],
  ['two bytes a letter', 'é', "x'c3a9'"],
  ['the longest that is short', '裏'.repeat(128), `x'${'e8a38f'.repeat(128)}'`],
  ['surrogates', '🂡'.repeat(64), `x'${'f09f82a1'.repeat(64)}'`],
  ['one letter more', '裏'.repeat(129), `x'${'e8a38f'.repeat(129)}'`],
])('The hexadecimal literal of a text has all its bytes (%s)', (_, text, expected) => {
  expect(hex(text)).toBe(expected)
})
