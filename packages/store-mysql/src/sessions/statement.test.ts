import { describe, expect, it } from 'vitest'
import { STATEMENTS } from '../generated/sql.ts'
import { fill, fillRows, parseRowsStatement, parseStatement } from './statement.ts'

const insert = parseRowsStatement('INSERT INTO t VALUES /*rows ,*/(?, ?)/*end*/')

describe('a statement', () => {
  it('A statement has its values in their places, whatever characters they have', () => {
    expect(fill(parseStatement('SELECT ? + ?'), ['?', 1])).toBe("SELECT '?' + 1")
  })

  it('A statement refuses more or fewer values than places', () => {
    for (const values of [[], [1], [1, 2, 3]]) {
      expect(() => fill(parseStatement('SELECT ? + ?'), values)).toThrow('placeholders')
    }
  })

  it('A statement repeats its group for each row', () => {
    const rows = [1, 2].map((n) => fill(insert.row, [n, 'x']))
    expect(fillRows(insert, rows)).toBe("INSERT INTO t VALUES (1, 'x') , (2, 'x')")
    expect(() => fillRows(insert, [])).toThrow('no rows')
  })

  it('A statement has no comment, and so every question mark is a placeholder', () => {
    for (const sql of Object.values(STATEMENTS)) expect(sql).not.toContain('--')
  })
})
