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
