import { DatabaseSync } from 'node:sqlite'
import express from 'express'
import fastify from 'fastify'
import { describe, expect, it } from 'vitest'
import { migrateBarrier } from '../../src/barrier/sqlite.ts'
import { branchHandler as expressHandler } from '../../src/express.ts'
import { branchHandler as fastifyHandler } from '../../src/fastify.ts'
import { type Addition, groupedBranch, takeOut } from '../../src/grouped/grouped.ts'
import { conditionalAdd, sqliteGroupBarrier } from '../../src/grouped/sqlite.ts'
import { type Branch, BranchFailure, type BranchHandlerOptions, withBarrier } from '../../src/index.ts'

interface Debit {
  readonly id: string
  readonly cents: number
}

function bank() {
  const database = new DatabaseSync(':memory:')
  migrateBarrier(database)
  database.exec(
    "CREATE TABLE account (id TEXT PRIMARY KEY, cents INTEGER); INSERT INTO account VALUES ('alice', 100)",
  )
  const barrier = sqliteGroupBarrier(database)
  const branch = groupedBranch(barrier, {
    key: () => 'transfer',
    apply: conditionalAdd({ table: 'account', valueColumn: 'cents' }),
  })
  const rows = (): unknown =>
    database.prepare('SELECT count(*) AS found FROM counterstep_barrier').get()?.found
  return { database, barrier, branch, rows }
}

const handler = (_: undefined, { op, payload }: Branch<Debit>): Addition => {
  if (payload.id === 'closed') throw new BranchFailure('the account is closed', { code: 'CLOSED' })
  return { id: payload.id, delta: op === 'action' ? -payload.cents : payload.cents }
}
const parse = (payload: unknown): Debit => {
  if (typeof payload === 'object' && payload !== null && 'id' in payload) return payload as Debit
  throw new TypeError('an id is needed')
}
const options: BranchHandlerOptions<Debit> = { parse, onError: () => undefined }

type Call = (
  op: string,
  gid: string,
  payload: unknown,
) => Promise<{ status: number; body: unknown; decision: unknown }>
const toQuery = (op: string, gid: string): string => `?gid=${gid}&trans_type=saga&branch_id=01&op=${op}`

const FRAMEWORKS: Readonly<
  Record<
    string,
    (branch: ReturnType<typeof bank>['branch'], use: (call: Call) => Promise<void>) => Promise<void>
  >
> = {
  'Fastify 5': async (branch, use) => {
    const app = fastify()
    app.post('/debit', fastifyHandler(branch, handler, options))
    await use(async (op, gid, payload) => {
      const answer = await app.inject({
        method: 'POST',
        url: `/debit${toQuery(op, gid)}`,
        payload: payload as object,
      })
      const { statusCode: status, body, headers } = answer
      return {
        status,
        body: body === '' ? undefined : JSON.parse(body),
        decision: headers['counterstep-barrier'],
      }
    })
    await app.close()
  },
  'Express 5': async (branch, use) => {
    const app = express()
      .use(express.json())
      .post('/debit', expressHandler(branch, handler, options))
    const server = app.listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : 0
    await use(async (op, gid, payload) => {
      const headers = { 'content-type': 'application/json' }
      const url = `http://127.0.0.1:${port}/debit${toQuery(op, gid)}`
      const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(payload) })
      const text = await answer.text()
      const decision = answer.headers.get('counterstep-barrier')
      return { status: answer.status, body: text === '' ? undefined : JSON.parse(text), decision }
    })
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  },
}

for (const [name, serve] of Object.entries(FRAMEWORKS)) {
  it(`The handler of ${name} serves a grouped branch like any barrier`, async () => {
    const { branch, rows } = bank()
    await serve(branch, async (call) => {
      const debit = { id: 'alice', cents: 60 }
      expect(await call('action', 'g1', debit)).toEqual({
        status: 200,
        body: { value: '40' },
        decision: 'run',
      })
      expect(await call('action', 'g1', [])).toMatchObject({
        status: 200,
        body: { value: '40' },
        decision: 'duplicate',
      })
      expect(await call('action', 'g2', debit)).toMatchObject({ status: 409, body: { code: 'INSUFFICIENT' } })
      expect(await call('action', 'g3', { ...debit, id: 'bob' })).toMatchObject({
        status: 409,
        body: { code: 'UNKNOWN_ACCOUNT' },
      })
      expect(await call('action', 'g4', { id: 'closed' })).toMatchObject({
        status: 409,
        body: { code: 'CLOSED' },
      })
      expect(await call('action', 'g5', {})).toMatchObject({
        status: 422,
        body: { code: 'BRANCH_PAYLOAD_INVALID' },
      })
      expect(await call('compensate', 'g5', {})).toMatchObject({ status: 200, decision: 'null-compensation' })
      expect(await call('compensate', 'g1', debit)).toMatchObject({ status: 200, body: { value: '100' } })
      expect(await call('action', 'g1', debit)).toMatchObject({
        status: 409,
        body: { code: 'ALREADY_COMPENSATED' },
      })
      expect(rows()).toBe(4)
    })
  })
}

describe('a grouped branch', () => {
  const CALL = { gid: 'g', branchId: '01', op: 'action' } as const

  it('A grouped branch gives a duplicate the first answer through withBarrier', async () => {
    const { branch } = bank()
    const debit = (cents: number) => withBarrier(branch, CALL, () => ({ id: 'alice', delta: -cents }))
    expect([await debit(1), await debit(2)]).toEqual([{ value: '99' }, { value: '99' }])
  })

  it('All calls of a group fail when apply does not return one result for each, and nothing is kept', async () => {
    const { barrier, rows } = bank()
    for (const results of [[], [1], [1, 2, 3], undefined, 'ab']) {
      const branch = groupedBranch(barrier, { key: () => 'one', apply: () => results as unknown[] })
      const running = ['a', 'b'].map((gid) => branch.run({ ...CALL, gid }, () => 0))
      for (const settled of await Promise.allSettled(running)) {
        expect(settled).toMatchObject({ status: 'rejected', reason: { code: 'BRANCH_RESULTS_INVALID' } })
      }
    }
    expect(rows()).toBe(0)
  })

  it('A grouped branch refuses an invalid call before it waits, and a key that is no string', async () => {
    const { barrier, branch } = bank()
    const entry = () => ({ id: 'alice', delta: 1 })
    await expect(branch.run({ ...CALL, gid: '' }, entry)).rejects.toMatchObject({
      code: 'BRANCH_CALL_INVALID',
    })
    const keyless = groupedBranch(barrier, { key: () => undefined as unknown as string, apply: () => [] })
    await expect(keyless.run(CALL, () => 0)).rejects.toThrow(/key/)
    const throwing = groupedBranch(barrier, {
      key: () => {
        throw new Error('no payload')
      },
      apply: () => [],
    })
    await expect(throwing.run(CALL, () => 0)).rejects.toThrow('no payload')
  })

  it('A grouped branch refuses wrong settings, and a barrier that has no transactions to share', () => {
    const { barrier } = bank()
    const made = { key: () => 'one', apply: () => [] }
    const bad = [{ groupMax: 0 }, { groupMax: 1_001 }, { queueMax: 0 }, { lingerMs: -1 }, { lingerMs: 0.5 }]
    for (const each of bad) expect(() => groupedBranch(barrier, { ...made, ...each })).toThrow(TypeError)
    const { run } = barrier
    expect(() => groupedBranch({ run } as unknown as typeof barrier, made)).toThrow(
      /needs the barrier of a database/,
    )
    expect(() => takeOut('no' as unknown as Error)).toThrow(TypeError)
  })
})
