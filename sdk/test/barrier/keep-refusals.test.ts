import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { keepRefusals } from '../../src/barrier/keep-refusals.ts'
import { migrateBarrier, type SqliteBarrier, sqliteBarrier } from '../../src/barrier/sqlite.ts'
import { type BarrierCall, BranchFailure } from '../../src/index.ts'

const COPY: BarrierCall = { gid: 'g-1', branchId: '01', op: 'action' }
const CALL: BarrierCall = { ...COPY, hasNoUndo: true }
const throwing = (failure: BranchFailure) => (): never => {
  throw failure
}
const refuse = throwing(new BranchFailure('said no', { code: 'SAID_NO' }))

/** Its own `run` keeps nothing of calls without the mark. `before` runs before each undo. */
function openRun(before: (barrier: SqliteBarrier<DatabaseSync>) => Promise<unknown>) {
  const database = new DatabaseSync(':memory:')
  migrateBarrier(database)
  const barrier = sqliteBarrier(database)
  const run = keepRefusals<DatabaseSync, unknown>(async ({ hasNoUndo: _, ...call }, effect) => {
    if (call.op === 'compensate') await before(barrier)
    return barrier.run(call, effect)
  })
  return { barrier, database, run }
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

it.each([
  [
    'its words',
    { details: { cents: 5, of: 'Ä€𝄞' } },
    { message: 'said no', details: { cents: 5, of: 'Ä€𝄞' } },
  ],
  ['its message alone if its details are too long', { details: 'x'.repeat(16_384) }, { message: 'said no' }],
  [
    'its message alone if its details are too long in ASCII',
    { details: 'Ä'.repeat(3_000) },
    { message: 'said no' },
  ],
  ['its message alone if JSON cannot hold its details', { details: 1n as never }, { message: 'said no' }],
])('A copy of a refused call is refused with the code of the refusal and %s', async (_, words, kept) => {
  const { run } = openRun(() => Promise.resolve())
  const failure = new BranchFailure('said no', { code: 'SAID_NO', ...words })
  await expect(run(CALL, throwing(failure))).rejects.toBe(failure)
  const copy: unknown = await run(CALL, () => 'done').catch((error: unknown) => error)
  expect(copy).toBeInstanceOf(BranchFailure)
  const { code, message, details } = copy as BranchFailure
  expect({ code, message, details }).toEqual({ code: 'SAID_NO', ...kept })
})

it('A refusal whose message is too long is kept with its code, and one with too long a code without its words', async () => {
  for (const [code, message, copy] of [
    ['SAID_NO', 'x'.repeat(16_384), 'SAID_NO'],
    ['x'.repeat(16_384), '', undefined],
  ] as const) {
    const { run } = openRun(() => Promise.resolve())
    await expect(run(CALL, throwing(new BranchFailure(message, { code })))).rejects.toMatchObject({ code })
    if (copy === undefined) expect((await run(CALL, () => 'done')).decision).toBe('already-compensated')
    else await expect(run(CALL, () => 'done')).rejects.toMatchObject({ code: copy, message: '' })
  }
})

it('Copies that refuse for other reasons meanwhile are refused for the first one that was kept', async () => {
  const second = throwing(new BranchFailure('closed', { code: 'CLOSED' }))
  let isBetween = true
  const { run } = openRun(async () => {
    if (!isBetween) return
    isBetween = false
    await expect(run(CALL, refuse)).rejects.toMatchObject({ code: 'SAID_NO' })
  })
  await expect(run(CALL, second)).rejects.toMatchObject({ code: 'SAID_NO' })
  await expect(run(CALL, () => 'done')).rejects.toMatchObject({ code: 'SAID_NO' })
})

it('A copy is told that it was late where the row with the refusal is gone', async () => {
  const { barrier, database, run } = openRun(() => Promise.resolve())
  await expect(run(CALL, refuse)).rejects.toMatchObject({ code: 'SAID_NO' })
  database.exec("DELETE FROM counterstep_barrier WHERE op = 'compensate'")
  expect((await run(CALL, () => 'done')).decision).toBe('already-compensated')
  expect((await barrier.run(COPY, () => 'done')).decision).toBe('already-compensated')
})

it('A refusal that cannot be read is kept all the same', async () => {
  const { run } = openRun(() => Promise.resolve())
  const failure = Object.defineProperty(new BranchFailure('said no'), 'details', {
    get() {
      throw new Error('it cannot be read')
    },
  })
  await expect(run(CALL, throwing(failure))).rejects.toBe(failure)
  expect((await run(CALL, () => 'done')).decision).toBe('already-compensated')
})

it('A copy that comes after a compensation, and not after a refusal, is told so', async () => {
  const { barrier, run } = openRun(() => Promise.resolve())
  await barrier.run(COPY, () => 'done')
  await barrier.run({ ...COPY, op: 'compensate' }, () => ({ refused: 1 }))
  expect((await run(CALL, () => 'done')).decision).toBe('already-compensated')
  await barrier.run({ ...COPY, gid: 'g-2', op: 'compensate' }, () => 'undone')
  expect((await run({ ...CALL, gid: 'g-2' }, () => 'done')).decision).toBe('already-compensated')
})

it('A refusal of a call that is no action, or is not marked, is not kept', async () => {
  const { barrier, run } = openRun(() => Promise.reject(new Error('asked for an undo')))
  for (const call of [COPY, { ...CALL, op: 'try' }, { ...CALL, op: 'msg' }] as const) {
    await expect(run(call, refuse)).rejects.toMatchObject({ code: 'SAID_NO' })
    const { hasNoUndo: _, ...plain } = call as BarrierCall
    expect((await barrier.run(plain, () => 'done')).decision).toBe('run')
  }
})
