import { readFile } from 'node:fs/promises'
import { StoreUnavailableError } from '@counterstep/core'
import { CounterstepError, ERROR_MEANINGS, type ErrorCode, InvalidRequestError } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { buildApp, STATUS_OF_CODE } from '../src/index.ts'
import { createHeardLog } from './heard-log.ts'
import { createScriptedEngine } from './scripted-engine.ts'

const CANARY = 'canary-3141592'

function askFailingEngine(error: unknown) {
  const { lines, logger } = createHeardLog()
  const submit = async () => {
    throw error
  }
  const app = buildApp({ engine: createScriptedEngine({ submit }), logger, logRequests: true })
  const answer = app.inject({
    method: 'POST',
    url: `/v1/transactions?${CANARY}=1`,
    headers: { 'content-type': 'application/json', 'x-secret': CANARY },
    payload: JSON.stringify({ payload: CANARY }),
  })
  return { answer, lines }
}

describe('an error', () => {
  for (const code of Object.keys(ERROR_MEANINGS) as ErrorCode[]) {
    it(`An error with ${code} is answered with ${STATUS_OF_CODE[code]} as a problem`, async () => {
      const { answer } = askFailingEngine(new CounterstepError(code, 'the reason'))
      const { statusCode, headers, ...rest } = await answer
      expect(statusCode).toBe(STATUS_OF_CODE[code])
      expect(headers['content-type']).toBe('application/problem+json; charset=utf-8')
      expect(rest.json()).toMatchObject({ code, status: statusCode })
      const comesAgain = [429, 503].includes(statusCode) || code === 'SAGA_OP_BUSY'
      expect(headers['retry-after']).toBe(comesAgain ? '1' : undefined)
      expect(headers['www-authenticate']).toBe(statusCode === 401 ? 'Bearer realm="counterstep"' : undefined)
    })
  }

  const inner = new Error(`driver says ${CANARY}`, { cause: new SyntaxError(`${CANARY} is not valid JSON`) })
  const insides: readonly unknown[] = [
    new TypeError(`Cannot read ${CANARY}`),
    Object.assign(new Error(CANARY), { code: 'ER_DUP_ENTRY', sql: CANARY }),
    new CounterstepError('SAGA_INTERNAL', 'assertion', { cause: inner }),
    new AggregateError([new Error(CANARY)], CANARY),
    { payload: CANARY },
    `thrown ${CANARY}`,
  ]
  for (const [index, error] of insides.entries()) {
    it(`An internal error (${index}) is a 500 that says nothing, and a log line without what the caller sent`, async () => {
      const { answer, lines } = askFailingEngine(error)
      const { statusCode, body, headers } = await answer
      expect(statusCode).toBe(500)
      expect(JSON.parse(body)).toMatchObject({
        code: 'SAGA_INTERNAL',
        detail: 'an internal error; it was logged',
      })
      expect(body).not.toContain(CANARY)
      const text = lines.join('')
      expect(text).not.toContain(CANARY)
      expect(text).toContain('request failed')
      expect(text).toContain(`"requestId":"${headers['counterstep-request-id']}"`)
      expect(text).toContain('"route":"/v1/transactions"')
    })
  }

  it('An error that a caller caused is not logged', async () => {
    const fault = { code: 'SAGA_INVALID', path: CANARY, message: CANARY } as const
    const { answer, lines } = askFailingEngine(new InvalidRequestError([fault]))
    expect((await answer).statusCode).toBe(422)
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatch(/"status":422.*"msg":"answered"/)
    expect(lines[0]).not.toContain(CANARY)
  })

  it("An error is logged with its code, causes and frames, and with a message only if it is Counterstep's or a system call's", () => {
    const { lines, logger } = createHeardLog()
    const system = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), {
      code: 'ECONNREFUSED',
      errno: -111,
      syscall: 'connect',
      password: CANARY,
    })
    logger.error({ err: new StoreUnavailableError('no answer', { applied: 'no', cause: system }) }, 'x')
    const { err } = JSON.parse(lines[0] ?? '')
    expect(err).toMatchObject({ code: 'SAGA_STORE_UNAVAILABLE', message: 'no answer' })
    expect(err.cause).toMatchObject({ code: 'ECONNREFUSED', message: 'connect ECONNREFUSED 127.0.0.1:1' })
    expect(err.stack).toMatch(/^\s+at /)
    expect(lines[0]).not.toContain(CANARY)
  })

  it('An AggregateError is logged with the first of the errors that it is made of', () => {
    const { lines, logger } = createHeardLog()
    const errors = Array.from({ length: 10 }, () => new StoreUnavailableError('no answer', { applied: 'no' }))
    logger.error({ err: new AggregateError([new TypeError(CANARY), ...errors], CANARY) }, 'x')
    const { err } = JSON.parse(lines[0] ?? '')
    expect(err.type).toBe('AggregateError')
    expect(err.errors).toHaveLength(8)
    expect(err.errors.slice(0, 2)).toMatchObject([{ type: 'TypeError' }, { message: 'no answer' }])
    expect(lines[0]).not.toContain(CANARY)
  })
})

describe('docs/errors.md', () => {
  it('The page docs/errors.md has one line for each code, with its meaning and its status, and no other', async () => {
    const page = await readFile(new URL('../../../docs/errors.md', import.meta.url), 'utf8')
    const rows = [...page.matchAll(/^\| `(\w+)` +\| (\w+) +\| (\d{3}) +\| (.+) \| (.+) \|$/gm)]
    const shown = Object.fromEntries(rows.map(([, code, meaning, status]) => [code, { meaning, status }]))
    const codes = Object.keys(ERROR_MEANINGS) as ErrorCode[]
    const expected = codes.map((code) => [
      code,
      { meaning: ERROR_MEANINGS[code], status: String(STATUS_OF_CODE[code]) },
    ])
    expect(shown).toEqual(Object.fromEntries(expected))
    expect(rows).toHaveLength(codes.length)
  })
})
