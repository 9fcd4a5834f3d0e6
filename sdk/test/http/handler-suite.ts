import { DatabaseSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { type Barrier, migrateBarrier, sqliteBarrier } from '../../src/barrier/sqlite.ts'
import { type Branch, BranchFailure, type BranchHandlerOptions, BranchOngoing } from '../../src/index.ts'

export type SuiteHandler = (database: DatabaseSync, branch: Branch<Payload>) => unknown

export interface Payload {
  readonly does?: string
}

/** Serves one route, POST and GET /branch, with the given handler behind a framework. */
export interface Framework {
  readonly name: string
  serve(
    barrier: Barrier<DatabaseSync>,
    handler: SuiteHandler,
    options?: BranchHandlerOptions<Payload>,
  ): Promise<ServedBranch>
}

export interface ServedBranch {
  call(
    query: string,
    payload?: unknown,
    contentType?: string,
  ): Promise<{ status: number; headers: Headers; text: string }>
  /** These are the errors that reached the framework's own log or error handling. */
  readonly logged: readonly unknown[]
}

/** Defines the tests of the rules that every adapter keeps. SQLite is in memory, so that only the adapter is in question. */
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

    it('A call is answered with 200 and what the handler returned, and its duplicate with the same', async () => {
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

    it('S19: An onError that is an async function may be rejected, and the call is answered all the same', async () => {
      const written = vi.spyOn(console, 'error').mockReturnValue()
      const rejected = new Error('the log is down')
      const onError = async () => {
        await setImmediate()
        throw rejected
      }
      const { call } = await serve(barrier, () => undefined, { onError })
      expect((await call('', {})).status).toBe(400)
      await expect.poll(() => written.mock.lastCall?.at(-1)).toBe(rejected)
      written.mockRestore()
    })

    it('S19: A parse that is an async function may be rejected before its handler waits for it', async () => {
      const parse = (() => Promise.reject(new Error('no cents'))) as unknown as (payload: unknown) => Payload
      const handler: SuiteHandler = () => 7
      const { call } = await serve(barrier, handler, { parse })
      expect((await call(newQuery(), {})).status).toBe(200)
      await setImmediate()
    })

    it('A handler that returns nothing is answered with 200 without a body, and so is a null compensation', async () => {
      const { call } = await serve(barrier, () => undefined)
      const query = newQuery()
      expect(await call(query, {})).toMatchObject({ status: 200, text: '' })
      const undo = newQuery('compensate')
      const answer = await call(undo, {})
      expect([answer.status, answer.headers.get('counterstep-barrier')]).toEqual([200, 'null-compensation'])
      const late = await call(undo.replace('compensate', 'action'), {})
      expect([late.status, JSON.parse(late.text).code]).toEqual([409, 'ALREADY_COMPENSATED'])
    })

    it('A compensation and a cancel are handed what they undo, also in a call of DTM, which has no headers', async () => {
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

    it('A business failure is answered with 409, and what is ongoing with 425 and Retry-After', async () => {
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

    it('A business failure whose details are no JSON is answered with 409', async () => {
      const { call, logged } = await serve(barrier, () => {
        throw new BranchFailure('too little', { code: 'INSUFFICIENT_FUNDS', details: { cents: 3n } as never })
      })
      const failed = await call(newQuery(), {})
      expect([failed.status, JSON.parse(failed.text).code]).toEqual([409, 'INSUFFICIENT_FUNDS'])
      expect(logged).toEqual([])
    })

    it('An error that only has the name, code and status of a failure is answered with 500', async () => {
      const fields = { name: 'BranchError', code: 'ALREADY_COMPENSATED', status: 409, statusCode: 409 }
      const posing = Object.assign(new Error('copied'), fields)
      const { call, logged } = await serve(barrier, () => {
        throw posing
      })
      expect([(await call(newQuery(), {})).status, logged]).toEqual([500, [posing]])
    })

    it('Any other error is answered with 500, though it looks like a failure, and logged with its cause', async () => {
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

    it('An error goes to onError where that is given, and the answer is a code and no more', async () => {
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

    it('An error that onError throws is answered with 500, whatever status it carries', async () => {
      const onError = () => {
        throw Object.assign(new Error('SELECT secret'), { status: 409, statusCode: 409 })
      }
      const { call } = await serve(barrier, () => Promise.reject(new Error('broken')) as never, { onError })
      const { status, text } = await call(newQuery(), {})
      expect([status, text.includes('secret')]).toEqual([500, false])
    })

    it('A route serves the ops that it was told; another op does nothing and leaves no row', async () => {
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

    it('A list of ops that names none, or an unknown one, is refused at construction', async () => {
      for (const ops of [[], ['msg'], ['tries'], ['toString'], 'try']) {
        const serving = async () => serve(barrier, () => undefined, { ops: ops as never })
        await expect(serving()).rejects.toThrow(
          /ops must be a list of at least one of action, compensate, try/,
        )
      }
    })

    it('A request that is no branch call is answered with 400, and a payload that is refused with 422', async () => {
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

    it('A call without a body has no payload', async () => {
      const { call } = await serve(barrier, (_tx, { payload }) => String(payload))
      expect((await call(newQuery())).text).toBe('"undefined"')
    })

    it('No text is read as an outcome by DTM, which looks for words', async () => {
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
