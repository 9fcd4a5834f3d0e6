import { expect, it } from 'vitest'
import { isSince, writePgbouncerConfig } from './pgbouncer-config.ts'

const PLACE = {
  rules: '/f/rules',
  users: '/f/users',
  port: 1,
  serverPort: 2,
  settings: ['pool_mode = session'],
}

it('A PgBouncer that knows named statements is told not to serve them, and an older one cannot be told', () => {
  const lines = (version: string) => writePgbouncerConfig({ ...PLACE, version }).split('\n')
  expect(lines('1.18.0')).not.toContain('max_prepared_statements = 0')
  expect(lines('1.21.0')).toContain('max_prepared_statements = 0')
})

it('The given settings of a PgBouncer come after its own', () => {
  const lines = writePgbouncerConfig({ ...PLACE, version: '1.18.0' })
    .trimEnd()
    .split('\n')
  expect(lines).toContain('* = host=127.0.0.1 port=2')
  expect(lines.at(-1)).toBe('pool_mode = session')
})

it('A version of PgBouncer is compared by its numbers', () => {
  expect([isSince('1.9.0', 21), isSince('1.21.0', 21), isSince('1.24.1', 21), isSince('2.0.0', 21)]).toEqual([
    false,
    true,
    true,
    true,
  ])
})
