import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { keepRefusals } from '../../src/barrier/keep-refusals.ts'
import { migrateBarrier, sqliteBarrier } from '../../src/barrier/sqlite.ts'
import { type BarrierCall, BranchFailure } from '../../src/index.ts'

const COPY: BarrierCall = { gid: 'g-1', branchId: '01', op: 'action' }
const CALL: BarrierCall = { ...COPY, hasNoUndo: true }
const refuse = (): never => {
  throw new BranchFailure('said no', { code: 'SAID_NO' })
}

/** Its own `run` keeps nothing of calls without the mark. `before` runs before each undo. */
function openRun(before: (barrier: ReturnType<typeof openBarrier>) => Promise<unknown>) {
  const barrier = openBarrier()
  const run = keepRefusals<DatabaseSync, unknown>(async ({ hasNoUndo: _, ...call }, effect) => {
    if (call.op === 'compensate') await before(barrier)
    return barrier.run(call, effect)
  })
  return { barrier, run }
}

function openBarrier() {
  const database = new DatabaseSync(':memory:')
  migrateBarrier(database)
  return sqliteBarrier(database)
}

it('If a copy takes effect between a refusal and the rows that would keep it, its answer is the answer', async () => {
  const { barrier, run } = openRun((own) => own.run(COPY, () => ({ paid: 1 })))
  expect(await run(CALL, refuse)).toEqual({ decision: 'duplicate', answer: '{"paid":1}' })
  const undo = await barrier.run({ ...COPY, op: 'compensate' }, () => 'undone')
  expect(undo.decision).toBe('run')
})

it('A refusal is not answered if the rows that keep it cannot be written', async () => {
  const { barrier, run } = openRun(() => Promise.reject(new Error('the database is away')))
  await expect(run(CALL, refuse)).rejects.toThrow('the database is away')
  expect((await barrier.run(COPY, () => 'done')).decision).toBe('run')
})

it('A refusal of a call that is no action, or is not marked, is not kept', async () => {
  const { barrier, run } = openRun(() => Promise.reject(new Error('asked for an undo')))
  for (const call of [COPY, { ...CALL, op: 'try' }, { ...CALL, op: 'msg' }] as const) {
    await expect(run(call, refuse)).rejects.toMatchObject({ code: 'SAID_NO' })
    const { hasNoUndo: _, ...plain } = call as BarrierCall
    expect((await barrier.run(plain, () => 'done')).decision).toBe('run')
  }
})
