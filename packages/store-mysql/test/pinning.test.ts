import { describe, expect, it } from 'vitest'
import { STATEMENTS } from '../src/generated/sql.ts'
import { findPinning } from './pinning.ts'

const QUERY = 3
const SET_SESSION = STATEMENTS.setSession.replaceAll('?', '2')

const PINS: readonly (readonly [string, string])[] = [
  ['a user variable', STATEMENTS.guard],
  ['a user variable', 'SELECT @a'],
  ['a user variable', 'SELECT id INTO @id FROM t'],
  ['a named lock', STATEMENTS.takeSchemaLock],
  ['a named lock', STATEMENTS.releaseSchemaLock],
  ['a function of the statement before', STATEMENTS.setNow],
  ['a function of the statement before', 'SELECT ROW_COUNT()'],
  ['a function of the statement before', 'SELECT FOUND_ROWS ()'],
  ['a function of the statement before', 'UPDATE t SET a = LAST_INSERT_ID(a + 1)'],
  ['a function of the statement before', 'SELECT SQL_CALC_FOUND_ROWS id FROM t LIMIT 1'],
  ['a temporary table', 'CREATE TEMPORARY TABLE t (id INT)'],
  ['locked tables', 'LOCK TABLES t WRITE'],
  ['locked tables', 'FLUSH TABLES WITH READ LOCK'],
  ['a prepared statement', "PREPARE s FROM 'SELECT 1'"],
  ['a prepared statement', 'EXECUTE s'],
  ['a handler', 'HANDLER t OPEN'],
  ['an executable comment', 'SELECT /*!80000 1 */'],
  ['an executable comment', 'SELECT /*M!100000 1 */'],
  ['several statements', 'SELECT 1;SELECT 2'],
  ['a variable that is not tracked', SET_SESSION],
  ['a variable that is not tracked', 'SET innodb_lock_wait_timeout = 2'],
  ['a variable that is not tracked', 'SET SESSION innodb_lock_wait_timeout = 2'],
  ['a variable that is not tracked', 'SET TRANSACTION ISOLATION LEVEL READ COMMITTED'],
  ['a variable that is not tracked', 'SET autocommit = 0, wait_timeout = 10'],
  ['its length', `SELECT '${'x'.repeat(16 * 1024)}'`],
  ['its length', `SELECT '${'é'.repeat(8 * 1024)}'`],
]

describe('a statement that makes RDS Proxy keep its connection', () => {
  it.each(PINS)('A statement that pins its connection is found by %s: %.60s', (reason, text) => {
    expect(findPinning({ code: QUERY, text })).toBe(reason)
  })

  it('A command that prepares, resets the session or changes the user is found to pin its connection', () => {
    expect([0x16, 0x17, 0x1f, 0x11].map((code) => findPinning({ code, text: 'SELECT 1' }))).not.toContain(
      undefined,
    )
  })

  it('A statement does not pin its connection by what its texts say', () => {
    const text = "SELECT 'x; SET @a = ROW_COUNT() /*! */ it''s \\' @b', @@global.read_only"
    expect(findPinning({ code: QUERY, text })).toBe(undefined)
  })

  it('A statement that sets what the proxy tracks does not pin its connection', () => {
    const sets = [
      ...STATEMENTS.setSessionMultiplexed.replaceAll('?', '10').split(';\n'),
      STATEMENTS.setIsolation,
    ]
    expect(sets.map((text) => findPinning({ code: QUERY, text }))).toEqual(sets.map(() => undefined))
  })
})
