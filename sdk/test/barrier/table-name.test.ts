import { expect, it } from 'vitest'
import { parseTableName, quoteTable } from '../../src/barrier/table-name.ts'

const HOSTILE = [
  ...[
    'a b',
    'a`b',
    'a"b',
    "a'b",
    'a;b',
    'a--b',
    'a/*',
    'a\\',
    'a\nb',
    'a.b.c',
    '.a',
    'a.',
    '1a',
    'ä',
    '',
    '`a`',
    'a)',
  ],
  ...[
    'counterstep_barrier; DROP TABLE accounts',
    'x` (id) SELECT 1 -- ',
    'a\u0000',
    'a'.repeat(49),
    '__proto__.x y',
  ],
]

it('S23: The name of a table is a plain one, or it is refused before any statement is made', () => {
  for (const name of HOSTILE) expect(() => parseTableName(name)).toThrow(TypeError)
  expect(quoteTable(parseTableName('bank.barrier'), '"')).toBe('"bank"."barrier"')
})
