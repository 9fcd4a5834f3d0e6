// Chance comes from ctx, and is the same in each replay, also where some code runs the first time alone.
import type { PlanContext } from '@counterstep/workflow'
import { expect, it } from 'vitest'
import { play } from './orchestrator.ts'
import { call, program } from './write-program.ts'

const WITHIN: readonly [string, (ctx: PlanContext) => Promise<unknown>][] = [
  ['the code of ctx.run', (ctx) => ctx.run('token', async () => [await ctx.uuid(), ctx.random()])],
  [
    'what writes a call',
    async (ctx) => {
      // The function goes on in the same plan.
      void ctx.call('hold', {
        url: 'svc:/hold',
        hasUndo: false,
        write: () => ({ action: 'svc:/hold', payload: { key: ctx.uuid() } }),
      })
    },
  ],
]

it.each(WITHIN)('A draw within %s does not change what the function draws behind it', async (_, draw) => {
  const drawn: unknown[] = []
  const run = async (ctx: PlanContext) => {
    const within = await draw(ctx)
    const own = ctx.uuid()
    drawn.push(own)
    await call(ctx, 'a', { own })
    await call(ctx, 'b', { own })
    return within
  }
  const { answers } = await play([program(run)])
  const payloads = answers.flatMap((answer) =>
    (answer?.next ?? []).flatMap(({ id, branch }) => (id === 'hold' ? [] : [JSON.stringify(branch)])),
  )
  expect(payloads).toHaveLength(2)
  expect(new Set(drawn).size).toBe(1)
  for (const payload of payloads) expect(payload).toContain(String(drawn[0]))
})

it('Draws of different places are different, and those of one place are the same again', async () => {
  const tokens: unknown[] = []
  const run = async (ctx: PlanContext) => {
    for (let time = 0; time < 2; time++) tokens.push(await ctx.run('token', () => ctx.uuid()))
    tokens.push(ctx.uuid())
    return undefined
  }
  await play([program(run)], { asks: 2 })
  expect(new Set(tokens).size).toBe(3)
})
