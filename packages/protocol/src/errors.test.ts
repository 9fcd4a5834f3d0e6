import { describe, expect, it } from 'vitest'
import {
  CounterstepError,
  ERROR_MEANINGS,
  type ErrorCode,
  InvalidRequestError,
  isCounterstepError,
} from './errors.ts'

const CODES = Object.keys(ERROR_MEANINGS) as ErrorCode[]

describe('an error code', () => {
  it('An error code is upper case, begins with SAGA_, and has one of the four meanings', () => {
    for (const code of CODES) {
      expect(code).toMatch(/^SAGA(_[A-Z]+)+$/)
      expect(['failure', 'ongoing', 'unavailable', 'bug']).toContain(ERROR_MEANINGS[code])
    }
  })

  it('The code of something that may yet happen is never a failure', () => {
    expect(ERROR_MEANINGS).toMatchObject({
      SAGA_OUTCOME_UNKNOWN: 'unavailable',
      SAGA_NOT_ACCEPTED: 'unavailable',
      SAGA_STORE_UNAVAILABLE: 'unavailable',
      SAGA_OVER_CAPACITY: 'unavailable',
      SAGA_TARGET_OVER_CAPACITY: 'unavailable',
      SAGA_NOT_FINAL: 'ongoing',
      SAGA_INTERNAL: 'bug',
    })
  })
})

describe('an error', () => {
  for (const code of CODES) {
    it(`An error of ${code} has its meaning and keeps its cause`, () => {
      const cause = new Error('disk')
      const error = new CounterstepError(code, 'text', { cause })
      expect(error).toMatchObject({ code, meaning: ERROR_MEANINGS[code], message: 'text', cause })
      expect(error).toBeInstanceOf(Error)
      expect(isCounterstepError(error)).toBe(true)
    })
  }

  it('The error of a refused request has the code of the first fault, and all faults', () => {
    const first = { code: 'SAGA_GID_INVALID', path: '/gid', message: 'too long' } as const
    const second = { code: 'SAGA_ACK_INVALID', path: '/ack', message: 'unheard of' } as const
    const error = new InvalidRequestError([first, second])
    expect(error).toMatchObject({ code: 'SAGA_GID_INVALID', message: 'too long', faults: [first, second] })
    expect(error.name).toBe('InvalidRequestError')
    expect(isCounterstepError(error)).toBe(true)
  })

  it('An error of another copy of the package is known by its code', () => {
    expect(isCounterstepError(Object.assign(new Error('x'), { code: 'SAGA_UNKNOWN_GID' }))).toBe(true)
  })

  it('Another value is not taken for an error of Counterstep', () => {
    const strangers = [
      new Error('x'),
      Object.assign(new Error('x'), { code: 'ECONNRESET' }),
      Object.assign(new Error('x'), { code: 7 }),
      { code: 'SAGA_UNKNOWN_GID' },
      'SAGA_UNKNOWN_GID',
      null,
      undefined,
    ]
    expect(strangers.map(isCounterstepError)).toEqual(strangers.map(() => false))
  })

  it('An error whose code is a name that every object inherits is not taken for one of Counterstep', () => {
    for (const code of ['toString', 'constructor', '__proto__', 'hasOwnProperty']) {
      expect(isCounterstepError(Object.assign(new Error('x'), { code }))).toBe(false)
    }
  })
})
