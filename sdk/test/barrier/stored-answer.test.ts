import { DatabaseSync } from 'node:sqlite'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { migrateBarrier, sqliteBarrier } from '../../src/barrier/sqlite.ts'
import { STORED_ANSWER_BYTES_MAX, toAnswerText } from '../../src/barrier/stored-answer.ts'
import { BranchError, BranchFailure, BranchOngoing } from '../../src/index.ts'

class Query {
  readonly #sql = 'UPDATE account SET cents = 0'
  execute(): string {
    return this.#sql
  }
  compile(): string {
    return this.#sql
  }
}

describe('the answer that is stored beside an effect', () => {
  it.each([
    ['an error', new Error('no money')],
    ['an error with fields', new BranchError('BRANCH_CALL_INVALID', 'no money')],
    ['a Response', new Response(null, { status: 409 })],
    ['a query that was never run', new Query()],
    ['a function', () => 7],
    ['a list of promises', { lines: [Promise.resolve(7)] }],
  ])('No answer is %s', (_, value) => {
    expect(() => toAnswerText(value)).toThrow(expect.objectContaining({ code: 'BRANCH_ANSWER_INVALID' }))
  })

  it.each([
    [undefined, ''],
    [{}, '{}'],
    [Object.create(null), '{}'],
    [new Map([['paid', 7]]), '{}'],
    [new (class Done {})(), '{}'],
    [runInNewContext('({})'), '{}'],
    [[], '[]'],
    [new Date(0), '"1970-01-01T00:00:00.000Z"'],
    [{ toJSON: () => ({}) }, '{}'],
    [
      new (class Receipt {
        readonly paid = 7
      })(),
      '{"paid":7}',
    ],
  ])('The answer %j is kept as %s', (value, text) => {
    expect(toAnswerText(value)).toBe(text)
  })

  it('One that is too long is refused', () => {
    const code = { code: 'BRANCH_ANSWER_TOO_LARGE' }
    expect(() => toAnswerText('x'.repeat(STORED_ANSWER_BYTES_MAX))).toThrow(expect.objectContaining(code))
  })

  it.each([new BranchFailure('no money'), new BranchOngoing()])(
    'A refusal that is returned counts as thrown',
    async (refusal) => {
      const database = new DatabaseSync(':memory:')
      migrateBarrier(database)
      const call = { gid: 'g', branchId: '01', op: 'action' } as const
      const effect = () => {
        database.exec('CREATE TABLE paid (cents INTEGER)')
        return refusal
      }
      await expect(sqliteBarrier(database).run(call, effect)).rejects.toBe(refusal)
      const rows = database.prepare("SELECT name FROM sqlite_master WHERE name = 'paid'").all()
      expect(rows).toEqual([])
      database.close()
    },
  )
})
