import { isServerFault, SqlError } from '@counterstep/store-sql'
import { describe, expect, it } from 'vitest'
import {
  endsSession,
  isCertain,
  isDenied,
  isLoginRefused,
  isTableMissing,
  toSqlError,
} from './server-errors.ts'

function fromServer(code: string, message = 'text', where = 'a row'): SqlError {
  return toSqlError(Object.assign(new Error(message), { code, severity: 'ERROR', where }))
}

const table = [
  // Each row has: the code, the fault, whether nothing was applied for certain, ends the session, the server's fault.
  ['25006', 'read-only', true, true, true],
  ['40001', 'repeat', true, false, false],
  ['40P01', 'repeat', true, false, false],
  ['55P03', 'lock-wait', true, false, false],
  ['57014', 'stall', true, false, false],
  ['53300', 'crowded', true, false, false],
  ['42501', 'unavailable', true, false, true],
  ['42P01', 'unavailable', true, false, true],
  ['53100', 'unavailable', true, false, true],
  ['53200', 'unavailable', true, false, true],
  ['54000', 'row', true, false, false],
  ['22021', 'row', true, false, false],
  ['22P02', 'row', true, false, false],
  ['23502', 'row', true, false, false],
  ['23505', 'row', true, false, false],
  ['42601', 'row', true, false, false],
  ['0A000', 'unavailable', true, false, true],
  ['25P03', 'lost', false, true, true],
  ['57P01', 'lost', false, true, true],
  ['57P02', 'lost', false, true, true],
  ['57P03', 'unavailable', false, true, true],
  ['57P05', 'lost', false, true, true],
  ['08000', 'lost', false, true, true],
  ['08006', 'lost', false, true, true],
  ['08P01', 'lost', false, true, true],
  ['40003', 'unavailable', false, true, true],
  ['58000', 'unavailable', false, true, true],
  ['58030', 'unavailable', false, true, true],
  ['XX000', 'unavailable', false, true, true],
  ['XX001', 'unavailable', false, true, true],
  // The server did not wait for its standby, and has done the COMMIT.
  ['01000', 'unavailable', false, true, true],
] as const

describe("the server's errors by their code", () => {
  for (const [code, fault, certain, ends, ofServer] of table) {
    it(`The server's error ${code} is ${fault}, and nothing was applied ${certain ? 'for certain' : 'perhaps'}`, () => {
      const error = fromServer(code)
      expect(error).toMatchObject({ fault, code, errno: 0 })
      expect([isCertain(error), endsSession(error), isServerFault(error)]).toEqual([certain, ends, ofServer])
    })
  }
})

describe('a wait for a lock', () => {
  it('A wait that is for no row is a stall, since it is for the whole table', () => {
    const error = toSqlError(Object.assign(new Error('text'), { code: '55P03', severity: 'ERROR' }))
    expect([error.fault, isCertain(error), endsSession(error)]).toEqual(['stall', true, false])
  })
})

describe("the connection's errors by their code", () => {
  const codes = {
    ECONNRESET: 'lost',
    EPIPE: 'lost',
    ERR_STREAM_DESTROYED: 'lost',
    // The driver gives no code to "Connection terminated unexpectedly".
    '': 'lost',
    ECONNREFUSED: 'unavailable',
    ENOTFOUND: 'unavailable',
    ETIMEDOUT: 'unavailable',
    CERT_HAS_EXPIRED: 'unavailable',
    ERR_TLS_CERT_ALTNAME_INVALID: 'unavailable',
    // These have as many letters as a code of the server.
    EPERM: 'unavailable',
    EBUSY: 'unavailable',
  }
  for (const [code, fault] of Object.entries(codes)) {
    it(`The connection's error "${code}" is ${fault}, leaves open what was applied, and ends the session`, () => {
      const error = toSqlError(Object.assign(new Error('text'), code === '' ? {} : { code, errno: -104 }))
      expect(error).toMatchObject({ fault, errno: 0 })
      expect([isCertain(error), endsSession(error), isServerFault(error)]).toEqual([false, true, true])
    })
  }

  it('A time-out leaves open what was applied', () => {
    expect(isCertain(new SqlError('timeout', 'text'))).toBe(false)
  })
})

describe('an error with a meaning of its own', () => {
  it('A refused login, a denied right and a missing table are told by their codes', () => {
    const codes = ['28000', '28P01', '3D000', '42501', '3F000', '42P01']
    expect(codes.map((code) => isLoginRefused(fromServer(code)))).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
    ])
    expect(codes.map((code) => isDenied(fromServer(code)))).toEqual([false, false, false, true, true, false])
    expect(codes.map((code) => isTableMissing(fromServer(code)))).toEqual([
      false,
      false,
      false,
      false,
      false,
      true,
    ])
  })
})

describe('an error in the log', () => {
  it('The error for the log never has the text of an error that quotes values or the statement', () => {
    const quoting = ['22P02', '22021', '42601', '42883'].map((code) =>
      fromServer(code, 'invalid input syntax: "card 4111"'),
    )
    for (const error of quoting) {
      expect(JSON.stringify([error, error.message, error.stack])).not.toContain('4111')
      expect(error.message).toContain(error.code)
    }
  })

  it('The error for the log has no detail, which quotes a row', () => {
    const thrown = Object.assign(new Error('null value in column "progress"'), {
      ...{ code: '23502', severity: 'ERROR', detail: 'Failing row contains (card 4111)', where: 'card 4111' },
    })
    const error = toSqlError(thrown)
    expect(JSON.stringify([error, error.message, error.stack, error.cause])).not.toContain('4111')
    expect(error.message).toBe('null value in column "progress" (23502)')
  })
})
