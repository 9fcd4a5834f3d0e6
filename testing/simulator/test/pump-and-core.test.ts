import {
  acceptedRun,
  type BranchAnswer,
  buildPlanCall,
  buildStepRequest,
  type CallKey,
  newTransaction,
  parsePlan,
  RULES,
  type Run,
  type RunEvent,
  type SagaOp,
  stepRun,
  type WorkflowTransaction,
} from '@counterstep/core'
import type { Gid, PlanFailure, PlanOutcome } from '@counterstep/protocol'
import {
  answerPlan,
  type PlanContext,
  parsePlanCall,
  rehearse,
  type WorkflowProgram,
} from '@counterstep/workflow'
import { describe, expect, it } from 'vitest'

/** A business failure, as the SDK's BranchFailure is one. */
class Failure extends Error {
  readonly failed: PlanFailure

  constructor(failed: PlanFailure) {
    super(failed.message)
    this.failed = failed
  }
}

const RETRY = { initialMs: 10, factor: 2, capMs: 100, jitter: 0, limit: null }
const CREATED_AT = 1_000_000
const SETTINGS = {
  leaseMs: 1_000_000,
  holdMs: 100_000,
  retentionMs: 'never',
  releaseKeepsSentList: true,
} as const

function toRun(grants: number): Run {
  const definition = {
    ...({
      kind: 'workflow',
      workflow: 'order',
      handler: 'http://shop.test/',
      input: 'null',
      version: 1,
      grants,
    } as const),
    ...{ headers: {}, retry: RETRY, timeoutMs: 1_000, checkpointMs: 60_000 },
  }
  const ids = { gid: 'order-17' as Gid, digest: 'd'.repeat(64) }
  const grant = { sentAt: 0, now: 0, storeNow: CREATED_AT }
  return acceptedRun(newTransaction({ definition }, ids, CREATED_AT), 't', SETTINGS, grant)
}

/** A handler whose steps commit with a row for their slot. */
class Handler {
  readonly effects: string[] = []
  readonly undone: string[] = []
  readonly planBodies: string[] = []
  /** So long has each plan call taken, of the 10 s that it has. */
  elapsedMs = 0
  readonly #program: WorkflowProgram
  readonly #rows = new Map<string, string>()
  /** Says which steps refuse. */
  readonly #refuses: ReadonlySet<string>
  /** It dies after this many commits, before it answers. */
  #killAfter: number

  constructor(
    run: WorkflowProgram['run'],
    refuses: readonly string[] = [],
    killAfter = Number.POSITIVE_INFINITY,
  ) {
    this.#program = { name: 'order', version: 1, hasBarrier: true, run }
    this.#refuses = new Set(refuses)
    this.#killAfter = killAfter
  }

  async plan(body: string): Promise<string | undefined> {
    this.planBodies.push(body)
    try {
      const answer = await answerPlan([this.#program], parsePlanCall(body), {
        nextTurn: () => new Promise((resolve) => setImmediate(resolve)),
        runStep: async ({ slot, name }) => this.commit(slot, name),
        elapsedMs: () => this.elapsedMs,
        budgetMs: 10_000,
        createFailure: (failed) => new Failure(failed),
        readFailure: (error) => (error instanceof Failure ? error.failed : undefined),
      })
      return JSON.stringify(answer)
    } catch (error: unknown) {
      if (error instanceof Error && String(error.cause).includes('was killed')) return undefined
      throw error
    }
  }

  commit(slot: string, name: string): string {
    const standing = this.#rows.get(slot)
    if (standing !== undefined && standing !== name) throw new Error(`${slot} is ${standing}, not ${name}`)
    if (standing !== undefined) return name
    if (this.#refuses.has(name)) throw new Failure({ code: 'NO', message: name })
    this.#rows.set(slot, name)
    this.effects.push(`${slot} ${name}`)
    if (this.effects.length === this.#killAfter) throw new Error('the process was killed')
    return name
  }

  end(slot: string, name: string): PlanOutcome {
    try {
      return { value: this.commit(slot, name) }
    } catch (error: unknown) {
      if (error instanceof Failure) return { failed: error.failed }
      throw error
    }
  }

  undo(slot: string): void {
    this.undone.push(`${slot} ${this.#rows.get(slot) ?? '-'}`)
  }
}

class Play {
  run: Run
  writes = 1
  #now = 0
  readonly #handler: Handler

  constructor(handler: Handler, grants: number) {
    this.run = toRun(grants)
    this.#handler = handler
  }

  async play(): Promise<WorkflowTransaction> {
    const events: RunEvent[] = [{ type: 'tick' }]
    for (let event = events.shift(); event !== undefined; event = events.shift()) {
      const { run, effects } = stepRun(RULES, this.run, event, this.#now)
      this.run = run
      for (const effect of effects) {
        if (effect.type === 'call') events.push(await this.#answer(effect.call, effect.attempt))
        else if (effect.type === 'save') {
          this.writes++
          events.push({ type: 'saved', result: { type: 'saved', version: run.version + 1, now: this.#now } })
        } else if (effect.type === 'wake-at' && events.length === 0 && !run.ended) {
          this.#now = Math.max(this.#now + 1, effect.at)
          events.push({ type: 'tick' })
        }
      }
    }
    return this.#workflow
  }

  pass(ms: number): void {
    this.#now += ms
  }

  get #workflow(): WorkflowTransaction {
    const { transaction } = this.run
    if (transaction.kind !== 'workflow') throw new TypeError('it is no workflow')
    return transaction
  }

  async #answer(call: CallKey, attempt: number): Promise<RunEvent> {
    const base = { type: 'answered', call, attempt, durationMs: 1, jitter01: 0 } as const
    if (call.op === 'plan') {
      const body = await this.#handler.plan(buildPlanCall(this.#workflow).body)
      if (body === undefined) return { ...base, answer: { result: 'unknown', error: 'reset' } }
      const plan = parsePlan(this.#workflow, body, () => undefined)
      return { ...base, answer: { result: 'success', statusCode: 200 }, plan }
    }
    return { ...base, answer: this.#answerStep(call.branch, call.op as SagaOp) }
  }

  #answerStep(branch: number, op: SagaOp): BranchAnswer {
    const slot = this.#workflow.steps[branch]?.branch.id ?? ''
    const { step } = JSON.parse(buildStepRequest(this.#workflow, branch, op).body) as {
      readonly step: string
    }
    if (op === 'action') {
      const { value, failed } = this.#handler.end(slot, step)
      return failed === undefined
        ? { result: 'success', body: JSON.stringify(value) }
        : { result: 'failure', statusCode: 409 }
    }
    this.#handler.undo(slot)
    return { result: 'success' }
  }
}

const step = (ctx: PlanContext, name: string) => ctx.step({ name, hasUndo: true, input: name })

async function countTo(ctx: PlanContext, count: number): Promise<number> {
  for (let done = 0; done < count; done++) await step(ctx, `s${done}`)
  return count
}

describe("the SDK's rules and the orchestrator's", () => {
  for (const [count, calls] of [
    [2, 1],
    [8, 1],
    [10, 2],
    [24, 3],
  ] as const) {
    it(`run ${count} local steps in ${calls} calls and ${calls + 1} writes`, async () => {
      const handler = new Handler((ctx) => countTo(ctx, count))
      const play = new Play(handler, 8)
      expect(await play.play()).toMatchObject({ status: 'succeeded', result: String(count) })
      expect([handler.planBodies.length, play.writes]).toEqual([calls, calls + 1])
      expect(handler.effects).toEqual(Array.from({ length: count }, (_, index) => `~${index + 1} s${index}`))
    })
  }

  it('ask the same again when the handler dies between its last commit and its answer, and run nothing twice', async () => {
    const handler = new Handler((ctx) => countTo(ctx, 3), [], 2)
    expect(await new Play(handler, 8).play()).toMatchObject({ status: 'succeeded' })
    expect(handler.effects).toEqual(['~1 s0', '~2 s1', '~3 s2'])
    expect(new Set(handler.planBodies).size).toBe(1)
  })

  it('give the same slots again behind a plan call that is cut short, though something has ended since', async () => {
    const handler = new Handler(async (ctx) => {
      const chain = async () => {
        await ctx.sleep('first', 1)
        for (const name of ['a', 'b', 'c']) await step(ctx, name)
      }
      const other = async () => {
        await ctx.sleep('second', 20)
        await step(ctx, 't')
      }
      await Promise.all([chain(), other()])
    })
    const play = new Play(handler, 8)
    const ask = handler.plan.bind(handler)
    handler.plan = async (body) => {
      if (JSON.parse(body).plan !== 2) return ask(body)
      // An attempt whose answer is lost runs all, and the next one has time for one step.
      await ask(body)
      play.pass(30)
      handler.elapsedMs = 6_000
      const answer = await ask(body)
      handler.elapsedMs = 0
      return answer
    }
    expect(await play.play()).toMatchObject({ status: 'succeeded' })
    expect(handler.effects).toEqual(['~1 a', '~2 b', '~3 c', '~4 t'])
  })

  it('leave no slot out when more is asked for than one answer may have', async () => {
    const handler = new Handler(async (ctx) => {
      const many = Array.from({ length: 99 }, (_, at) => `n${at}`)
      const wide = async () => {
        await ctx.sleep('first', 10)
        await ctx.all([...many.map((id) => ctx.sleep(id, 1)), step(ctx, 'p'), step(ctx, 'q')])
      }
      const narrow = async () => {
        await ctx.sleep('second', 10)
        await step(ctx, 's')
      }
      await Promise.all([wide(), narrow()])
    })
    expect(await new Play(handler, 8).play()).toMatchObject({ status: 'succeeded' })
    expect(handler.effects).toEqual(['~1 s', '~2 p', '~3 q'])
  })

  it('seal what another attempt may have run behind a failure, and go on under new slots', async () => {
    const handler = new Handler(
      async (ctx) => {
        await step(ctx, 'a')
        const caught = await step(ctx, 'b').catch((error: Error) => error.message)
        await Promise.all([step(ctx, 'p'), step(ctx, 'q')])
        return [caught, await step(ctx, 'c')]
      },
      ['b'],
    )
    expect(await new Play(handler, 3).play()).toMatchObject({ status: 'succeeded', result: '["b","c"]' })
    expect(handler.effects).toEqual(['~1 a', '~4 p', '~5 q', '~6 c'])
    expect(handler.undone).toEqual(['~3 -', '~2 -'])
  })

  it.each<[string, WorkflowProgram['run']]>([
    ['steps one after the other', (ctx) => countTo(ctx, 3)],
    ['steps beside each other', (ctx) => Promise.all(['p', 'q', 'r'].map((name) => step(ctx, name)))],
    [
      'steps of each kind',
      async (ctx) => {
        await Promise.all([step(ctx, 'p'), step(ctx, 'q')])
        await countTo(ctx, 10)
        await Promise.all([step(ctx, 'r'), step(ctx, 's')])
      },
    ],
    [
      'failures that are caught',
      async (ctx) => {
        await step(ctx, 'a')
        await step(ctx, 'no').catch(() => undefined)
        await Promise.all([step(ctx, 'p'), step(ctx, 'no').catch(() => undefined)])
        await step(ctx, 'b')
      },
    ],
  ])('undo in a rehearsal what the orchestrator undoes, in its order: %s', async (_title, run) => {
    const failing: WorkflowProgram['run'] = async (ctx, input) => {
      await run(ctx, input)
      throw new Failure({ code: 'X', message: 'not today' })
    }
    const [real, rehearsed] = [new Handler(failing, ['no']), new Handler(failing, ['no'])]
    expect(await new Play(real, 8).play()).toMatchObject({ status: 'failed' })
    await rehearse({
      ...{ workflow: 'order', gid: 'order-17', input: null, grants: 8 },
      ask: async (call) => JSON.parse((await rehearsed.plan(JSON.stringify(call))) ?? ''),
      takeMs: () => 0,
      end: ({ name, branch }) => rehearsed.end('slot' in branch ? branch.slot : '', name),
      undo: async ({ slot = '' }) => rehearsed.undo(slot),
    })
    const hasRun = (undone: string) => !undone.endsWith(' -')
    expect(rehearsed.effects).toEqual(real.effects)
    expect(rehearsed.undone.filter(hasRun)).toEqual(real.undone.filter(hasRun))
    expect(real.undone.filter(hasRun)).toHaveLength(real.effects.length)
  })

  it('undo what ran, the last first, and seal the rest of the grant before', async () => {
    const handler = new Handler(async (ctx) => {
      await countTo(ctx, 2)
      throw new Failure({ code: 'X', message: 'not today' })
    })
    expect(await new Play(handler, 3).play()).toMatchObject({
      status: 'failed',
      abort: { cause: 'workflow-failed' },
    })
    expect(handler.undone).toEqual(['~3 -', '~2 s1', '~1 s0'])
  })
})
