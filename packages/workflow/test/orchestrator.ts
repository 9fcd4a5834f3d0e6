// Rehearses workflows in a faulty world: what was planned is answered from a table, and answers are lost, plans are repeated
// and handlers die where a test wants it.
import {
  type JournalEntry,
  type JsonValue,
  type NextEntry,
  PLAN_BYTES_MAX,
  type PlanAnswer,
  type PlanCall,
  type PlanEnd,
  type PlanFailure,
  type PlanOutcome,
  type PlanRefusal,
  type RanEntry,
} from '@counterstep/protocol'
import {
  answerPlan,
  parsePlanCall,
  REHEARSAL_STARTS_AT,
  rehearse,
  StepError,
  type WorkflowProgram,
} from '@counterstep/workflow'
import { Barrier, type StepCode } from './barrier.ts'
import { Failure, readFailure } from './failure.ts'

/** The answer of a call. A signal that has no reply does not come. */
export interface Reply {
  readonly value?: unknown
  readonly failed?: PlanFailure
  readonly afterMs?: number
}

export interface World {
  readonly input?: unknown
  /** The key is the id of the call, or the name of the signal. */
  readonly replies?: Readonly<Record<string, Reply>>
  readonly steps?: Readonly<Record<string, StepCode>>
  readonly grants?: number
  /** Each plan is asked so often, and all answers but the last are lost. */
  readonly asks?: number
  /** Plans without a grant whose answer is lost, with the node: they are opened anew, with what has ended since. */
  readonly lostPlans?: ReadonlySet<number>
  /** The handler dies after this many commits. */
  readonly killAfter?: number
  /** In one plan call half of the time is over when this many steps have run: by attempt, again and again. */
  readonly inlineMax?: readonly number[]
  /** Chooses which of the pending ones ends next. The default is the one that ends first. */
  readonly choose?: (ids: readonly string[]) => string
  /** So many of the pending ones end before the next plan is opened. The default is 1. */
  readonly together?: number
  /** Replaces the workflows from this plan on. */
  readonly deploy?: { readonly plan: number; readonly workflows: readonly WorkflowProgram[] }
}

export interface Ended {
  readonly end: PlanEnd | { readonly refused: PlanRefusal }
  readonly journal: readonly string[]
  /** The same, whole. */
  readonly finalJournal: readonly JournalEntry[]
  /** All generations together, the calls that were repeated not counted. */
  readonly plans: number
  readonly effects: readonly string[]
  readonly calls: readonly PlanCall[]
  /** The answer to each of the calls, except those that were lost. */
  readonly answers: readonly (PlanAnswer | undefined)[]
}

export async function play(workflows: readonly WorkflowProgram[], world: World = {}): Promise<Ended> {
  return new FaultyWorld(workflows, world).play()
}

class FaultyWorld {
  readonly #world: World
  #workflows: readonly WorkflowProgram[]
  readonly #barrier: Barrier
  readonly #calls: PlanCall[] = []
  readonly #answers: (PlanAnswer | undefined)[] = []
  #sent = 0

  constructor(workflows: readonly WorkflowProgram[], world: World) {
    this.#world = world
    this.#workflows = workflows
    this.#barrier = new Barrier(world.steps ?? {}, world.killAfter)
  }

  async play(): Promise<Ended> {
    const { input, grants = 0, choose, together } = this.#world
    const { end, journal, plans } = await rehearse({
      workflow: 'order',
      gid: 'order-17',
      input,
      grants,
      ask: (call) => this.#ask(call),
      takeMs: (entry, at) => this.#takeMs(entry, at),
      end: (entry) => this.#end(entry),
      ...(choose === undefined ? {} : { choose }),
      ...(together === undefined ? {} : { together }),
    })
    return {
      end,
      journal: journal.map(({ id, value, failed }) => {
        if (failed !== undefined) return `${id}!${failed.code}`
        return value === undefined ? id : `${id}=${JSON.stringify(value)}`
      }),
      finalJournal: journal,
      plans,
      effects: this.#barrier.effects,
      calls: this.#calls,
      answers: this.#answers,
    }
  }

  /** Asks a plan again and again until there is an answer that is not lost. */
  async #ask(call: PlanCall): Promise<PlanAnswer | undefined> {
    const { deploy, asks = 1, lostPlans, grants = 0 } = this.#world
    const plans = this.#calls.length + 1
    if (plans === deploy?.plan) this.#workflows = deploy.workflows
    const text = JSON.stringify(call)
    this.#calls.push(parsePlanCall(text))
    let answer: PlanAnswer | undefined
    for (let left = asks; left > 0 || answer === undefined; left--) {
      const again = await this.#send(text)
      if (answer !== undefined && again !== undefined) assertSame(answer, again)
      answer = again ?? answer
    }
    const kept = lostPlans?.has(plans) === true && grants === 0 ? undefined : answer
    this.#answers.push(kept)
    return kept
  }

  async #send(text: string): Promise<PlanAnswer | undefined> {
    const { inlineMax = [] } = this.#world
    const most = inlineMax[this.#sent++ % inlineMax.length] ?? Number.POSITIVE_INFINITY
    let inline = 0
    try {
      const answer = await answerPlan(this.#workflows, parsePlanCall(text), {
        nextTurn: () => new Promise((resolve) => setImmediate(resolve)),
        runStep: async (step) => {
          inline += 1
          return this.#barrier.run(step)
        },
        elapsedMs: () => (inline >= most ? 5_000 : 0),
        budgetMs: 10_000,
        createFailure: (failed) => new Failure(failed),
        readFailure,
      })
      const written = JSON.stringify(answer)
      if (written.length > PLAN_BYTES_MAX) throw new Error(`the answer has ${written.length} bytes`)
      return JSON.parse(written)
    } catch (error: unknown) {
      const wasKilled = error instanceof StepError && String(error.cause).includes('was killed')
      if (wasKilled) return undefined
      throw error
    }
  }

  #takeMs(entry: NextEntry, at: number): number | undefined {
    if (entry.is === 'timer') return (entry.branch.wait as { ms: number }).ms ?? 0
    const reply = this.#findReply(entry)
    if (entry.is !== 'signal') return reply?.afterMs ?? 10
    return reply === undefined ? undefined : Math.max(0, REHEARSAL_STARTS_AT + (reply.afterMs ?? 0) - at)
  }

  #findReply({ id, is, name }: NextEntry): Reply | undefined {
    return this.#world.replies?.[is === 'signal' ? name : id]
  }

  #end(entry: NextEntry): PlanOutcome {
    if (entry.is === 'step') return this.#callStep(entry)
    const reply = this.#findReply(entry)
    if (entry.is === 'signal') return { value: toJson(reply?.value ?? null) }
    if (reply?.failed !== undefined) return { failed: reply.failed }
    return { value: toJson(reply?.value ?? { of: entry.id }) }
  }

  #callStep({ id, name, branch: { slot, input } }: Extract<NextEntry, { is: 'step' }>): PlanOutcome {
    try {
      return { value: toJson(this.#runOwnCall({ slot, id, name, input })) }
    } catch (error: unknown) {
      const failed = readFailure(error)
      if (failed === undefined) throw error
      return { failed }
    }
  }

  /** An own call of a step is asked again by the engine, too, if its handler dies. */
  #runOwnCall(step: Parameters<Barrier['run']>[0]): unknown {
    try {
      return this.#barrier.run(step)
    } catch (error: unknown) {
      if (String(error).includes('was killed')) return this.#barrier.run(step)
      throw error
    }
  }
}

function toJson(value: unknown): JsonValue {
  return value as JsonValue
}

/**
 * A repeated plan has the same answer, except that it may have come less far in its time, and that a service which has
 * refused a step may accept it when it is asked again.
 */
function assertSame(one: PlanAnswer, other: PlanAnswer): void {
  const lengths = [one, other].map(({ ran }) => {
    const refusedAt = ran.findIndex(isRefusedStep)
    return refusedAt < 0 ? ran.length : refusedAt
  })
  const length = Math.min(...lengths)
  const isWhole = one.ran.length === length && other.ran.length === length
  const [first, second] = isWhole ? [one, other] : [one.ran.slice(0, length), other.ran.slice(0, length)]
  if (JSON.stringify(first) === JSON.stringify(second)) return
  throw new Error(`a repeated plan has another answer: ${JSON.stringify(one)} and ${JSON.stringify(other)}`)
}

function isRefusedStep({ is, failed }: RanEntry): boolean {
  return is === 'step' && failed !== undefined
}
