import { describe, expect, it } from 'vitest'
import { MIGRATIONS, STATEMENTS } from '../generated/sql.ts'
import { numberParameters } from './number-parameters.ts'
import { withClock } from './with-clock.ts'

describe('the parameters of a statement', () => {
  it('The parameters are numbered in the order in which they stand', () => {
    expect(numberParameters('a = ? AND b = ANY(?::text[]) LIMIT ?')).toBe(
      'a = $1 AND b = ANY($2::text[]) LIMIT $3',
    )
    expect(numberParameters('SELECT 1')).toBe('SELECT 1')
    const many = numberParameters(Array.from({ length: 12 }, () => '?').join(', '))
    expect(many).toMatch(/^\$1, \$2, .*\$11, \$12$/)
  })

  it('The clock has no parameter, so those behind it are numbered from one', () => {
    const sql = withClock('WITH /*clock*/ SELECT now FROM clock WHERE now > ?')
    expect(sql).toContain('clock_timestamp()')
    expect(sql).toMatch(/WHERE now > \$1$/)
  })

  it('No statement has a question mark that is no parameter, in a text, a comment or an operator', () => {
    for (const sql of Object.values(STATEMENTS)) {
      expect(sql).not.toContain('--')
      expect(sql).not.toMatch(/'[^']*\?[^']*'/)
      expect(sql).not.toMatch(/\?[|&?]/)
    }
    for (const { statements } of MIGRATIONS) for (const sql of statements) expect(sql).not.toContain('?')
  })
})
