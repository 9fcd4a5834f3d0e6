// A function that goes on as a new generation says how much of the journal it had seen, so that no signal is lost on the way.
import type { PlanContext } from '@counterstep/workflow'
import { describe, expect, it } from 'vitest'
import { play, type World } from './orchestrator.ts'
import { call, program } from './write-program.ts'

const REPLIES = { a: { afterMs: 10 }, cancel: { value: 'stop', afterMs: 20 } }

/** Plays two generations, and returns how the first one has ended. */
async function endFirst(run: (ctx: PlanContext) => Promise<unknown>, world: World = {}): Promise<unknown> {
  const both = program(async (ctx, input) => {
    if (input === 'again') return 'done'
    await run(ctx)
    return ctx.continueWith('again')
  })
  const { answers } = await play([both], { replies: REPLIES, ...world })
  return answers.find((answer) => typeof answer?.then === 'object')?.then
}

const signal = (ctx: PlanContext) => ctx.signal('s', 'cancel', { timeoutMs: 60_000 })

describe('a function that goes on', () => {
  it('names what it had seen, where a signal stands in the journal behind that', async () => {
    const run = (ctx: PlanContext) => ctx.race([call(ctx, 'a'), signal(ctx)])
    expect(await endFirst(run, { together: 2 })).toEqual({ continue: 'again', seen: 1 })
  })

  it('names what it had seen, where a signal has come while something was still pending', async () => {
    const run = async (ctx: PlanContext) => {
      void call(ctx, 'b')
      await ctx.race([call(ctx, 'a'), signal(ctx)])
    }
    const world = { replies: { ...REPLIES, b: { afterMs: 30 } } }
    expect(await endFirst(run, world)).toEqual({ continue: 'again', seen: 1 })
  })

  it('names nothing, where it has seen the signal', async () => {
    const run = async (ctx: PlanContext) => {
      await ctx.all([call(ctx, 'a'), signal(ctx)])
    }
    expect(await endFirst(run, { together: 2 })).toEqual({ continue: 'again' })
  })

  it('names nothing, where no signal has come', async () => {
    const run = (ctx: PlanContext) => ctx.race([call(ctx, 'a'), signal(ctx)])
    expect(await endFirst(run)).toEqual({ continue: 'again' })
  })
})
