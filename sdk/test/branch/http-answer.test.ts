import { describe, expect, it } from 'vitest'
import {
  type AnsweredBranch,
  answerBranch,
  BRANCH_CODES,
  BranchError,
  type BranchErrorCode,
  BranchFailure,
  BranchOngoing,
  isBranchError,
} from '../../src/index.ts'
import { callUrl } from './call-url.ts'

const url = callUrl({ gid: 'g', trans_type: 'saga', branch_id: '01', op: 'action' })

/** Returns the answer to a call whose barrier, or whose handler, throws this. */
function answerTo(thrown: unknown): Promise<AnsweredBranch> {
  const barrier = { run: () => Promise.reject(thrown) }
  return answerBranch(barrier, () => undefined, { url, headers: {}, payload: {} })
}

function cycle(): object {
  const self: { self?: unknown } = {}
  self.self = self
  return self
}

const NO_JSON: readonly (readonly [what: string, details: unknown, why: RegExp])[] = [
  ['a BigInt', { cents: 3n }, /BigInt/],
  ['a cycle', cycle(), /circular/],
  ['a function', () => 1, /function/],
  [
    'a toJSON that throws',
    {
      toJSON: () => Promise.reject,
      get cents() {
        throw new Error('gone')
      },
    },
    /no JSON/,
  ],
]

describe('the answer to a business failure', () => {
  for (const [what, details, why] of NO_JSON) {
    it(`The answer to a business failure is 409 with its code, though its details are ${what}`, async () => {
      const failure = new BranchFailure('too little', { code: 'INSUFFICIENT', details: details as never })
      const { answer, error } = await answerTo(failure)
      expect([answer.statusCode, error]).toEqual([409, undefined])
      const body = JSON.parse(answer.body ?? '')
      expect(body).toEqual({
        code: 'INSUFFICIENT',
        message: 'too little',
        detailsLost: expect.stringMatching(why),
      })
    })
  }

  it('The answer to a business failure holds its details where they are JSON', async () => {
    const { answer } = await answerTo(new BranchFailure('no', { details: { cents: [null, 3] } }))
    expect(JSON.parse(answer.body ?? '')).toEqual({
      code: 'BRANCH_FAILED',
      message: 'no',
      details: { cents: [null, 3] },
    })
  })

  it('A failure and an ongoing of another copy of this package are answered with their status, whatever they hold', async () => {
    const foreign = Object.assign(new Error('no'), { branchResult: 'failure', code: 7n, details: 7n })
    const { answer } = await answerTo(foreign)
    expect([answer.statusCode, JSON.parse(answer.body ?? '').code]).toEqual([409, '7'])
    const ongoing = Object.assign(new Error('wait'), { branchResult: 'ongoing', retryAfterMs: 7n })
    expect((await answerTo(ongoing)).answer).toEqual({
      statusCode: 425,
      headers: { 'content-type': 'application/json; charset=utf-8' },
      body: '{"code":"BRANCH_NOT_YET"}',
    })
  })
})

describe('the answer to any other error', () => {
  const codes = Object.keys(BRANCH_CODES) as BranchErrorCode[]
  const said = codes.filter((code) => ['failure', 'ongoing'].includes(BRANCH_CODES[code].meaning))
  const faults = codes.filter((code) => !said.includes(code))

  it('The answer to any other error is never one that the orchestrator acts on, whatever code and status the error has', async () => {
    for (const code of codes) {
      for (const statusCode of [200, 409, 425]) {
        const fields = { name: 'BranchError', code, status: statusCode, statusCode }
        const { answer, error } = await answerTo(Object.assign(new Error('copied'), fields))
        expect(answer.statusCode).toBe(faults.includes(code) ? BRANCH_CODES[code].statusCode : 500)
        expect(error).toBeDefined()
      }
    }
  })

  it('The answer to a BranchError has the status of its code', async () => {
    for (const code of faults as Exclude<BranchErrorCode, SaidCode>[]) {
      const { answer } = await answerTo(new BranchError(code, 'as it is'))
      expect(answer.statusCode).toBe(BRANCH_CODES[code].statusCode)
    }
  })

  it('A BranchError cannot be made with a code of a failure or an ongoing', () => {
    expect(said).toEqual([
      'BRANCH_FAILED',
      'ALREADY_COMPENSATED',
      'GID_REUSED',
      'BRANCH_OP_NOT_SERVED',
      'MESSAGE_ROLLED_BACK',
      'BRANCH_NOT_YET',
    ])
    for (const code of said) {
      expect(() => new BranchError(code as never, 'no')).toThrow(/BranchFailure/)
    }
    expect(
      isBranchError(Object.assign(new Error('no'), { name: 'BranchError', code: 'BRANCH_FAILED' })),
    ).toBe(false)
  })

  it('A BranchOngoing is answered with 425', async () => {
    expect((await answerTo(new BranchOngoing())).answer.statusCode).toBe(425)
  })
})

type SaidCode =
  | 'BRANCH_FAILED'
  | 'ALREADY_COMPENSATED'
  | 'GID_REUSED'
  | 'BRANCH_OP_NOT_SERVED'
  | 'MESSAGE_ROLLED_BACK'
  | 'BRANCH_NOT_YET'
