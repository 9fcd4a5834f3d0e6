import { DatabaseSync } from 'node:sqlite'
import { beforeEach, describe, expect, it } from 'vitest'
import { type Barrier, migrateBarrier, sqliteBarrier } from '../../src/barrier/sqlite.ts'
import { type Branch, BranchFailure, type BranchHandlerOptions, BranchOngoing } from '../../src/index.ts'

export type SuiteHandler = (database: DatabaseSync, branch: Branch<Payload>) => unknown

export interface Payload {
  readonly does?: string
}

/** A framework with one route, POST and GET /branch, behind the given handler. */
export interface Framework {
  readonly name: string
  serve(
    barrier: Barrier<DatabaseSync>,
    handler: SuiteHandler,
    options?: BranchHandlerOptions<Payload>,
  ): Promise<ServedBranch>
}

export interface ServedBranch {
  call(query: string, payload?: unknown): Promise<{ status: number; headers: Headers; text: string }>
  /** The errors that reached the framework's own log or error handling. */
  readonly logged: readonly unknown[]
}

/** The rules that every adapter keeps. SQLite is in memory, so that only the adapter is in question. */
export function handlerSuite({ name, serve }: Framework): void {
  describe(`branchHandler of ${name}`, () => {
    let database: DatabaseSync
    let barrier: Barrier<DatabaseSync>
    let gids = 0
    const newQuery = (op = 'action'): string => `gid=h-${++gids}&trans_type=saga&branch_id=01&op=${op}`

    beforeEach(() => {
      database = new DatabaseSync(':memory:')
      migrateBarrier(database)
      barrier = sqliteBarrier(database)
    })

    it('answers 200 with what the handler returned, and the same to a duplicate', async () => {
      let runs = 0
      const { call } = await serve(barrier, (_tx, branch) => ({ runs: ++runs, payload: branch.payload }))
      const query = newQuery()
      const first = await call(query, { does: 'a' })
      expect(first).toMatchObject({ status: 200, text: '{"runs":1,"payload":{"does":"a"}}' })
      expect(first.headers.get('content-type')).toMatch(/^application\/json/)
      expect(first.headers.get('counterstep-barrier')).toBe('run')
      const second = await call(query, { does: 'b' })
      expect(second).toMatchObject({ status: 200, text: first.text })
      expect(second.headers.get('counterstep-barrier')).toBe('duplicate')
    })

    it('answers 200 without a body to a handler that returns nothing, and to a null compensation', async () => {
      const { call } = await serve(barrier, () => undefined)
      const query = newQuery()
      expect(await call(query, {})).toMatchObject({ status: 200, text: '' })
      const undo = newQuery('compensate')
      const answer = await call(undo, {})
      expect([answer.status, answer.headers.get('counterstep-barrier')]).toEqual([200, 'null-compensation'])
      const late = await call(undo.replace('compensate', 'action'), {})
      expect([late.status, JSON.parse(late.text).code]).toEqual([409, 'ALREADY_COMPENSATED'])
    })

    it('hands a compensation and a cancel what they undo, also in a call of DTM, which has no headers', async () => {
      const told: unknown[] = []
      const parse = (payload: unknown) => payload as Payload
      const handler = (_tx: DatabaseSync, branch: Branch<Payload, { holdId: string }>) => {
        told.push([branch.op, 'original' in branch, branch.original?.holdId, branch.payload.does])
        return { holdId: `h-${told.length}` }
      }
      for (const options of [{}, { parse }]) {
        const { call } = await serve(barrier, handler as SuiteHandler, options)
        for (const [kind, op, undo] of [
          ['saga', 'action', 'compensate'],
          ['tcc', 'try', 'cancel'],
        ] as const) {
          const query = newQuery(op).replace('saga', kind)
          const first = JSON.parse((await call(query, { does: 'do' })).text).holdId
          expect((await call(query.replace(`op=${op}`, `op=${undo}`), { does: 'undo' })).status).toBe(200)
          expect(told.slice(-2)).toEqual([
            [op, false, undefined, 'do'],
            [undo, true, first, 'undo'],
          ])
        }
      }
    })

    it('answers 409 to a business failure, and 425 with Retry-After to what is ongoing', async () => {
      const { call, logged } = await serve(barrier, (_tx, { payload }) => {
        if (payload.does === 'wait') throw new BranchOngoing({ retryAfterMs: 1_500 })
        throw new BranchFailure('too little', { code: 'INSUFFICIENT_FUNDS', details: { cents: 3 } })
      })
      const failed = await call(newQuery(), {})
      expect([failed.status, JSON.parse(failed.text)]).toEqual([
        409,
        { code: 'INSUFFICIENT_FUNDS', message: 'too little', details: { cents: 3 } },
      ])
      const waiting = await call(newQuery(), { does: 'wait' })
      expect([waiting.status, waiting.headers.get('retry-after')]).toEqual([425, '2'])
      expect(logged).toEqual([])
    })

    it('answers 409 to a business failure whose details are no JSON', async () => {
      const { call, logged } = await serve(barrier, () => {
        throw new BranchFailure('too little', { code: 'INSUFFICIENT_FUNDS', details: { cents: 3n } as never })
      })
      const failed = await call(newQuery(), {})
      expect([failed.status, JSON.parse(failed.text).code]).toEqual([409, 'INSUFFICIENT_FUNDS'])
      expect(logged).toEqual([])
    })

    it('answers 500 to an error that only has the name, code and status of a failure', async () => {
      const fields = { name: 'BranchError', code: 'ALREADY_COMPENSATED', status: 409, statusCode: 409 }
      const posing = Object.assign(new Error('copied'), fields)
      const { call, logged } = await serve(barrier, () => {
        throw posing
      })
      expect([(await call(newQuery(), {})).status, logged]).toEqual([500, [posing]])
    })

    it('answers 500 to everything else, though it looks like a failure, and logs it with its cause', async () => {
      const secret = Object.assign(new Error('SELECT secret FROM vault'), { status: 409, statusCode: 409 })
      const { call, logged } = await serve(barrier, () => {
        throw secret
      })
      const { status, text } = await call(newQuery(), {})
      expect([status, text.includes('vault')]).toEqual([500, false])
      expect(logged).toEqual([secret])
      const row = database.prepare('SELECT count(*) AS number FROM counterstep_barrier').get()
      expect(row).toEqual({ number: 0 })
    })

    it('gives the error to onError instead, and answers a code and no more', async () => {
      const heard: unknown[] = []
      const onError = (error: unknown, branch: Branch | undefined) => heard.push([error, branch?.branchId])
      const thrown = new Error('SELECT secret FROM vault')
      const { call, logged } = await serve(
        barrier,
        () => {
          throw thrown
        },
        { onError },
      )
      const { status, text } = await call(newQuery(), {})
      expect([status, text]).toEqual([500, '{"code":"BRANCH_ERROR"}'])
      expect([heard, logged]).toEqual([[[thrown, '01']], []])
      expect((await call('gid=only', {})).status).toBe(400)
      expect(heard).toHaveLength(2)
    })

    it('answers 500 when onError throws, whatever status that carries', async () => {
      const onError = () => {
        throw Object.assign(new Error('SELECT secret'), { status: 409, statusCode: 409 })
      }
      const { call } = await serve(barrier, () => Promise.reject(new Error('broken')) as never, { onError })
      const { status, text } = await call(newQuery(), {})
      expect([status, text.includes('secret')]).toEqual([500, false])
    })

    it('serves the ops that it was told and no other, which does nothing and leaves no row', async () => {
      const ran: string[] = []
      const run: SuiteHandler = (_tx, { op }) => void ran.push(op)
      const { call, logged } = await serve(barrier, run, { ops: ['try'] })
      const query = newQuery('try').replace('saga', 'tcc')
      for (const op of ['confirm', 'cancel']) {
        const answer = await call(query.replace('op=try', `op=${op}`), {})
        expect([answer.status, JSON.parse(answer.text)]).toEqual([
          409,
          { code: 'BRANCH_OP_NOT_SERVED', message: `this route serves try, and no ${op}` },
        ])
      }
      expect(database.prepare('SELECT count(*) AS number FROM counterstep_barrier').get()).toEqual({
        number: 0,
      })
      expect((await call(query, {})).status).toBe(200)
      expect([ran, logged]).toEqual([['try'], []])
    })

    it('refuses ops at construction that name none', async () => {
      for (const ops of [[], ['msg'], ['tries'], ['toString'], 'try']) {
        const serving = async () => serve(barrier, () => undefined, { ops: ops as never })
        await expect(serving()).rejects.toThrow(
          /ops must be a list of at least one of action, compensate, try/,
        )
      }
    })

    it('answers 400 to what is no branch call, and 422 to a payload that is refused', async () => {
      const parse = (payload: unknown): Payload => {
        if (typeof payload === 'object' && payload !== null) return payload
        throw new TypeError('an object is needed')
      }
      const { call } = await serve(barrier, () => 'done', { parse })
      expect((await call('', {})).status).toBe(400)
      expect((await call(`${newQuery()}&op=action`, {})).status).toBe(400)
      expect((await call(newQuery(), [].length)).status).toBe(422)
      const query = newQuery()
      expect((await call(query, {})).status).toBe(200)
      expect((await call(query, 0)).status).toBe(200)
      expect((await call(newQuery('compensate'), 0)).status).toBe(200)
    })

    it('has no payload in a call without a body', async () => {
      const { call } = await serve(barrier, (_tx, { payload }) => String(payload))
      expect((await call(newQuery())).text).toBe('"undefined"')
    })

    it('never lets a text read as an outcome by DTM, which looks for words', async () => {
      const { call } = await serve(barrier, (_tx, { payload }) => {
        if (payload.does === 'fail') throw new BranchFailure('an ONGOING FAILURE')
        return { customer: 'FAILURE & ONGOING Ltd', 'FAILURE ': '\\FAILURE' }
      })
      const served = await call(newQuery(), {})
      expect(served.text).not.toMatch(/FAILURE|ONGOING/)
      expect(JSON.parse(served.text)).toEqual({ customer: 'FAILURE & ONGOING Ltd', 'FAILURE ': '\\FAILURE' })
      const failed = await call(newQuery(), { does: 'fail' })
      expect([failed.status, failed.text.includes('ONGOING')]).toEqual([409, false])
      expect(JSON.parse(failed.text).message).toBe('an ONGOING FAILURE')
    })
  })
}
