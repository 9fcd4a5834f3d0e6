import type { PlanContext } from '@counterstep/workflow'
import { expect, it } from 'vitest'
import { play } from './orchestrator.ts'
import { call, program, step } from './write-program.ts'

/** Three chains, whose calls end before one plan: two steps alone, and two beside each other. */
async function threeChains(ctx: PlanContext): Promise<unknown> {
  const alone = async (id: string) => [await call(ctx, id), await step(ctx, `after-${id}`)]
  const beside = async () => {
    await call(ctx, 'c')
    return Promise.all([step(ctx, 'p'), step(ctx, 'q')])
  }
  return Promise.all([alone('a'), alone('b'), beside()])
}

it('Steps take their slots in the order of asking, wherever they run', async () => {
  const { effects, plans } = await play([program(threeChains)], { grants: 8, together: 3 })
  expect(effects).toEqual(['~1 after-a', '~2 after-b', '~3 p', '~4 q'])
  expect(plans).toBe(3)
})

it('An attempt that comes less far than the one before leaves the slots of that one alone', async () => {
  const world = { grants: 8, together: 3, asks: 2, inlineMax: [99, 1] }
  const { effects, end, finalJournal } = await play([program(threeChains)], world)
  expect(effects).toEqual(['~1 after-a', '~2 after-b', '~3 p', '~4 q'])
  expect(finalJournal.flatMap(({ id, slot }) => (slot === undefined ? [] : `${slot} ${id}`)).sort()).toEqual(
    effects,
  )
  expect(end).toMatchObject({ done: expect.anything() })
})

it('A pivot that waits takes no slot from a step that runs before it', async () => {
  const run = async (ctx: PlanContext) => {
    const chain = async () => [await call(ctx, 'a'), await step(ctx, 's'), await step(ctx, 't')]
    const [, { value }] = await Promise.all([chain(), ctx.pivot({ name: 'book', hasUndo: false, input: 1 })])
    return value
  }
  const { effects, end } = await play([program(run)], { grants: 1, steps: { book: () => 'booked' } })
  expect(effects).toEqual(['~1 s', '~2 t', '~3 book'])
  expect(end).toEqual({ done: 'booked' })
})

it('The next generation begins behind the last slot that was granted', async () => {
  const run = async (ctx: PlanContext, input: unknown) => {
    await step(ctx, 's')
    return input === 2 ? 'done' : ctx.continueWith(2, { keep: true })
  }
  const { effects } = await play([program(run)], { input: 1, grants: 8 })
  expect(effects).toEqual(['~1 s', '~9 s'])
})
