import { isServerFault } from '@counterstep/store-sql'
import { describe, expect, it } from 'vitest'
import { endsSession, isOfStatement, isRefusedCommit, toSqlError } from './server-errors.ts'

const table = [
  // Each row has: errno, SQL state, fault, ends the session, the server's fault, a refused COMMIT.
  [1062, '23000', 'duplicate', false, false, false],
  [1213, '40001', 'repeat', false, false, true],
  [1020, 'HY000', 'repeat', false, false, true],
  [3101, '40000', 'repeat', false, false, true],
  [1205, 'HY000', 'lock-wait', false, false, false],
  [1290, 'HY000', 'read-only', true, true, true],
  [1792, '25006', 'read-only', true, true, true],
  [1836, 'HY000', 'read-only', true, true, true],
  [1053, '08S01', 'lost', true, true, false],
  [1927, '70100', 'lost', true, true, false],
  [4031, 'HY000', 'lost', true, true, false],
  [1406, '22001', 'row', false, false, false],
  [1048, '23000', 'row', false, false, false],
  [1264, '22003', 'row', false, false, false],
  [1366, 'HY000', 'row', false, false, false],
  [1153, '08S01', 'row', false, false, false],
  [3819, 'HY000', 'row', false, false, false],
  [4025, '23000', 'row', false, false, false],
  [9999, '22999', 'row', false, false, false],
  [1040, '08004', 'crowded', false, false, false],
  [1203, '42000', 'crowded', false, false, false],
  [1226, '42000', 'crowded', false, false, false],
  [1045, '28000', 'unavailable', false, true, false],
  [1114, 'HY000', 'unavailable', false, true, false],
  [1317, '70100', 'unavailable', false, true, false],
  [1180, 'HY000', 'unavailable', false, true, false],
  [9999, 'HY000', 'unavailable', false, true, false],
] as const

describe("the server's errors by their number", () => {
  for (const [errno, sqlState, fault, ends, ofServer, refused] of table) {
    it(`The server's error ${errno} ${sqlState} is ${fault}`, () => {
      const error = toSqlError({ errno, sqlState, code: 'ER_X', sqlMessage: 'text', message: 'text' })
      expect(error.fault).toBe(fault)
      expect([endsSession(error), isServerFault(error), isRefusedCommit(error)]).toEqual([
        ends,
        ofServer,
        refused,
      ])
    })
  }
})

describe("the connection's errors by their code", () => {
  const codes = {
    ECONNRESET: 'lost',
    EPIPE: 'lost',
    PROTOCOL_CONNECTION_LOST: 'lost',
    PROTOCOL_SEQUENCE_TIMEOUT: 'timeout',
    ECONNREFUSED: 'unavailable',
    ENOTFOUND: 'unavailable',
    ETIMEDOUT: 'unavailable',
    HANDSHAKE_SSL_ERROR: 'unavailable',
  }
  for (const [code, fault] of Object.entries(codes)) {
    it(`The connection's error ${code} is ${fault}, and ends the session`, () => {
      // Node's errors have the system's number, which is negative.
      const error = toSqlError(Object.assign(new Error(code), { code, errno: -104 }))
      expect(error).toMatchObject({ fault, errno: 0 })
      expect([endsSession(error), isServerFault(error), isRefusedCommit(error)]).toEqual([true, true, false])
    })
  }
})

describe('an error about what was sent', () => {
  it('An error says that a COMMIT has not left this machine if the write itself has failed', () => {
    for (const [syscall, hasNotLeft] of [
      ['write', true],
      ['read', false],
    ] as const) {
      const error = Object.assign(new Error(`${syscall} ECONNRESET`), {
        code: 'ECONNRESET',
        errno: -104,
        syscall,
      })
      expect(isRefusedCommit(toSqlError(error))).toBe(hasNotLeft)
    }
  })

  const words = [
    // Each row has: errno, and whether it is about its statement.
    [1062, true],
    [1205, true],
    [1690, true],
    [1146, true],
    [4025, true],
    [1053, false],
    [1927, false],
    [2013, false],
    [9001, false],
  ] as const
  for (const [errno, isWord] of words) {
    it(`The error ${errno} is ${isWord ? 'about one statement' : 'not about one statement'}`, () => {
      const error = toSqlError({
        errno,
        sqlState: 'HY000',
        code: 'ER_X',
        sqlMessage: 'text',
        message: 'text',
      })
      expect(isOfStatement(error)).toBe(isWord)
    })
  }

  it('A time-out of the driver is not about one statement', () => {
    expect(isOfStatement(toSqlError({ code: 'PROTOCOL_SEQUENCE_TIMEOUT', message: 'text' }))).toBe(false)
  })
})

describe('an error in the log', () => {
  it('The error for the log never has the statement, which contains payloads', () => {
    const sql = "INSERT INTO t VALUES ('card 4111')"
    const quoted = { errno: 1366, sqlState: 'HY000', code: 'ER_X', sqlMessage: "Incorrect 'card 4111'", sql }
    const plain = {
      errno: 1406,
      sqlState: '22001',
      code: 'ER_X',
      sqlMessage: "Data too long for column 'gid'",
      sql,
    }
    for (const error of [quoted, plain].map(toSqlError)) {
      expect(JSON.stringify([error, error.message, error.stack])).not.toContain('4111')
    }
    expect(toSqlError(plain).message).toBe("Data too long for column 'gid' (1406)")
  })
})
