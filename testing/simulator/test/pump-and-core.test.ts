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
import type { Gid, PlanFailure } from '@counterstep/protocol'
import { answerPlan, type PlanContext, parsePlanCall, type WorkflowProgram } from '@counterstep/workflow'
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
        elapsedMs: () => 0,
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
    if (op === 'compensate') this.#handler.undo(slot)
    else return { result: 'success', body: JSON.stringify(this.#handler.commit(slot, step)) }
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
