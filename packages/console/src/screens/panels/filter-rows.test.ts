import { expect, it } from 'vitest'
import { filterRows } from './filter-rows.ts'

const ROWS = [
  ['pollMs', 900],
  ['keysFile', null],
]

for (const [text, found] of [
  ['', ROWS],
  ['  ', ROWS],
  ['POLL', [ROWS[0]]],
  ['900', [ROWS[0]]],
  ['null', []],
] as const)
  it(`The text ${JSON.stringify(text)} finds ${found.length} rows`, () =>
    expect(filterRows(ROWS, text)).toEqual(found))
