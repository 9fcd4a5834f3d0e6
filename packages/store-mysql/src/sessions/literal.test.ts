import { expect, it } from 'vitest'
import { literal } from './literal.ts'

it('A literal is written for texts, whole numbers and null', () => {
  expect(["it's", 'a\\b', 'x\u0000y', '"', 7, -0, null].map(literal)).toEqual([
    "'it''s'",
    "'a\\\\b'",
    "'x\\0y'",
    `'"'`,
    '7',
    '0',
    'NULL',
  ])
})

it('S40: A long text with many characters to escape is written in hexadecimal digits, and any other as it is', () => {
  const long = 'ä\\'.repeat(3_000)
  expect(literal(long)).toBe(`x'${Buffer.from(long).toString('hex')}'`)
  expect(literal("'\0\\".repeat(1_000).padEnd(4_095, 'x').slice(0, 4_095))).toMatch(/^'''\\0/)
  const few = `${'x'.repeat(10_000)}\\`
  expect(literal(few)).toBe(`'${'x'.repeat(10_000)}\\\\'`)
})

it('No literal is written for anything but texts, whole numbers and null, because it would be SQL', () => {
  const others = [
    undefined,
    1.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    2 ** 53,
    1n,
    true,
    {},
    [],
    ['a'],
    new Date(),
  ]
  const disguised = [
    { toSqlString: () => '1; DROP TABLE x' },
    Object('text'),
    Buffer.from('a'),
    () => '1',
    Symbol('a'),
  ]
  for (const value of [...others, ...disguised]) {
    expect(() => literal(value)).toThrow(expect.objectContaining({ code: 'SAGA_INTERNAL' }))
  }
})
