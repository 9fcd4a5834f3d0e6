import { DatabaseSync } from 'node:sqlite'
import { expect, expectTypeOf, it } from 'vitest'
import { type Barrier, migrateBarrier, sqliteBarrier } from '../src/barrier/sqlite.ts'
import { fetchHandler } from '../src/fetch.ts'
import { type Branch, type BranchHandler, type JsonValue, withBarrier } from '../src/index.ts'
import { callUrl } from './branch/call-url.ts'

interface Hold {
  readonly holdId: string
}

const database = new DatabaseSync(':memory:')
migrateBarrier(database)
const barrier = sqliteBarrier(database)
const call = (op: string) =>
  new Request(`http://bank${callUrl({ gid: 'typed', trans_type: 'saga', branch_id: '01', op })}`)

it('the original is any JSON or undefined where the handler names no type', () => {
  expectTypeOf<Branch['original']>().toEqualTypeOf<JsonValue | undefined>()
  expectTypeOf<Branch<{ readonly cents: number }>['original']>().toEqualTypeOf<JsonValue | undefined>()
  fetchHandler(barrier, (_tx, branch) => {
    expectTypeOf(branch.original).toEqualTypeOf<JsonValue | undefined>()
  })
  expect(fetchHandler(barrier, (_tx, { payload }: Branch<string>) => payload)).toBeTypeOf('function')
})

it('the original has the type that the handler names, or is undefined', async () => {
  const released: string[] = []
  const handler = (_tx: DatabaseSync, { op, original }: Branch<unknown, Hold>) => {
    expectTypeOf(original).toEqualTypeOf<Hold | undefined>()
    // @ts-expect-error: it may be undefined.
    const unchecked = () => original.holdId
    if (op === 'action') return { holdId: 'h-7' }
    released.push(unchecked())
    return undefined
  }
  const serve = fetchHandler(barrier, handler)
  for (const op of ['action', 'compensate']) expect((await serve(call(op))).status).toBe(200)
  expect(released).toEqual(['h-7'])
  expectTypeOf(handler).toExtend<BranchHandler<DatabaseSync, unknown, unknown, Hold>>()
})

it('an effect need not take the original, and a barrier of the service need not hand it on', async () => {
  const plain: Barrier<DatabaseSync> = { run: (each, effect) => barrier.run(each, (tx) => effect(tx)) }
  const passing: Barrier<DatabaseSync> = {
    run: (each, effect) => barrier.run(each, (tx, original) => effect(tx, original)),
  }
  const own = { gid: 'own', branchId: '01' } as const
  expect(await withBarrier(barrier, { ...own, op: 'action' }, () => ({ holdId: 'h-8' }))).toEqual({
    holdId: 'h-8',
  })
  const told = await withBarrier(passing, { ...own, op: 'compensate' }, (_tx, original) => {
    expectTypeOf(original).toEqualTypeOf<JsonValue | undefined>()
    return { original }
  })
  expect(told).toEqual({ original: { holdId: 'h-8' } })
  await withBarrier(barrier, { ...own, gid: 'lost', op: 'action' }, () => 1)
  expect(await withBarrier(plain, { ...own, gid: 'lost', op: 'compensate' }, tellOriginal)).toEqual({})
})

function tellOriginal(_tx: DatabaseSync, original?: JsonValue) {
  return { original }
}
