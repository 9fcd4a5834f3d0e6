import { expect, it } from 'vitest'
import { literal } from '../../src/grouped/mysql/mysql-literals.ts'

it.each([
  ['', "''"],
  ['01', "'01'"],
  ['{"value":"-41"}', `'{"value":"-41"}'`],
  ['a: b, c; -- /* # */', "'a: b, c; -- /* # */'"],
  ["it's", "x'69742773'"],
  ['back\\slash', "x'6261636b5c736c617368'"],
  ['what?', "x'776861743f'"],
  [':name', "x'3a6e616d65'"],
  ['{"n":1}', "x'7b226e223a317d'"],
  ['a\n', "x'610a'"],
  ['\0', "x'00'"],
  ['é', "x'c3a9'"],
])('writes %j as %s', (text, expected) => {
  expect(literal(text)).toBe(expected)
})
