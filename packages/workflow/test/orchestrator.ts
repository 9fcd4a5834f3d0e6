// An orchestrator in memory, on virtual time: it keeps the journal, opens plans, answers what was planned from a table, and
// loses answers where a test wants it.
import {
  answerPlan,
  type Failed,
  type JournalEntry,
  NEXT_STEPS_MAX,
  type NextEntry,
  PLAN_ANSWER_BYTES_MAX,
  type PlanAnswer,
  type PlanCall,
  type PlanEnd,
  parsePlanCall,
  type RanEntry,
  type Refusal,
  StepError,
  type WorkflowProgram,
} from '@counterstep/workflow'
import { Barrier, type StepCode } from './barrier.ts'
import { Failure, readFailure } from './failure.ts'

/** The answer of a call. A signal that has no reply does not come. */
export interface Reply {
  readonly value?: unknown
  readonly failed?: Failed
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
  readonly end: PlanEnd | { readonly refused: Refusal }
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

interface Pending {
  readonly entry: NextEntry
  readonly endAt: number
}

const PLANS_MAX = 2_000

export async function play(workflows: readonly WorkflowProgram[], world: World = {}): Promise<Ended> {
  return new Orchestrator(workflows, world).play()
}

class Orchestrator {
  readonly #world: World
  #workflows: readonly WorkflowProgram[]
  readonly #barrier: Barrier
  readonly #calls: PlanCall[] = []
  readonly #answers: (PlanAnswer | undefined)[] = []
  #now = 1_000
  #generation = { number: 1, acceptedAt: 1_000, input: undefined as unknown }
  #plan = 0
  #plans = 0
  #version: number | undefined
  #journal: JournalEntry[] = []
  /** How many entries have been seen by a plan, which gives them their instant. */
  #seen = 0
  #pending: Pending[] = []
  #used = 0
  #granted = 0
  #sent = 0

  constructor(workflows: readonly WorkflowProgram[], world: World) {
    this.#world = world
    this.#workflows = workflows
    this.#generation.input = world.input
    this.#barrier = new Barrier(world.steps ?? {}, world.killAfter)
  }

  async play(): Promise<Ended> {
    while (this.#plans < PLANS_MAX) {
      const answer = await this.#ask()
      this.#answers.push(answer)
      if (answer === undefined) continue
      this.#accept(answer)
      const { then } = answer
      if (typeof then === 'string') this.#endPending(then)
      else if ('continue' in then) this.#continue(then.continue)
      else return this.#finish(then)
    }
    throw new Error(`the workflow has not ended after ${PLANS_MAX} plans`)
  }

  #finish(end: Ended['end']): Ended {
    const journal = this.#journal.map(({ id, value, failed }) => {
      if (failed !== undefined) return `${id}!${failed.code}`
      return value === undefined ? id : `${id}=${JSON.stringify(value)}`
    })
    return {
      end,
      journal,
      finalJournal: this.#journal,
      plans: this.#plans,
      effects: this.#barrier.effects,
      calls: this.#calls,
      answers: this.#answers,
    }
  }

  /** Opens the next plan and asks it, again and again until there is an answer that is not lost. */
  async #ask(): Promise<PlanAnswer | undefined> {
    const { deploy, asks = 1, lostPlans } = this.#world
    this.#plan += 1
    this.#plans += 1
    if (this.#plans === deploy?.plan) this.#workflows = deploy.workflows
    const text = JSON.stringify(this.#open())
    this.#calls.push(parsePlanCall(text))
    let answer: PlanAnswer | undefined
    for (let left = asks; left > 0 || answer === undefined; left--) {
      const again = await this.#send(text)
      if (answer !== undefined && again !== undefined) assertSame(answer, again)
      answer = again ?? answer
    }
    const isLost = lostPlans?.has(this.#plans) === true && (this.#world.grants ?? 0) === 0
    if (!isLost) return answer
    if (this.#pending.length > 0) this.#endOne()
    return undefined
  }

  #open(): object {
    const { grants = 0 } = this.#world
    const { number, acceptedAt, input } = this.#generation
    this.#journal = this.#journal.map((entry, at) => (at < this.#seen ? entry : { ...entry, at: this.#now }))
    this.#seen = this.#journal.length
    const from = grants === 0 ? Math.max(this.#used, this.#granted) + 1 : this.#used + 1
    this.#granted = Math.max(this.#granted, from + grants - 1)
    return {
      v: 1,
      gid: 'order-17',
      workflow: 'order',
      ...(this.#version === undefined ? {} : { version: this.#version }),
      generation: number,
      plan: this.#plan,
      acceptedAt,
      at: this.#now,
      input,
      journal: this.#journal,
      pending: this.#pending.map(({ entry: { id, is, name, branch } }) => ({
        id,
        is,
        name,
        ...(is === 'step' ? { slot: (branch as { slot: string }).slot } : {}),
      })),
      grant: { from, count: grants },
      bytesLeft: 1024 * 1024 - JSON.stringify(this.#journal).length,
    }
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
      if (written.length > PLAN_ANSWER_BYTES_MAX) throw new Error(`the answer has ${written.length} bytes`)
      return JSON.parse(written)
    } catch (error: unknown) {
      const wasKilled = error instanceof StepError && String(error.cause).includes('was killed')
      if (wasKilled) return undefined
      throw error
    }
  }

  #accept({ version, generation, plan, ran, next, then }: PlanAnswer): void {
    if (generation !== this.#generation.number || plan !== this.#plan)
      throw new Error('the answer is to another plan')
    if (typeof then === 'object' && 'refused' in then) return
    this.#version ??= version
    this.#assertGood({ ran, next, then })
    for (const { undo: _undo, ...entry } of ran)
      this.#journal.push({ ...entry, at: this.#now } as JournalEntry)
    this.#seen += ran.length
    this.#pending.push(...next.map((entry, index) => ({ entry, endAt: this.#endOf(entry, index) })))
    for (const slot of [...ran.map((each) => each.slot), ...next.map((each) => readSlot(each))]) {
      if (slot !== undefined) this.#used = Math.max(this.#used, Number(slot.slice(1)))
    }
  }

  /** The rules of a bad plan. */
  #assertGood({ ran, next, then }: Pick<PlanAnswer, 'ran' | 'next' | 'then'>): void {
    const known = [...this.#journal, ...this.#pending.map(({ entry }) => entry), ...ran, ...next].map(
      ({ id }) => id,
    )
    if (new Set(known).size !== known.length) throw new Error(`an id comes twice: ${known.join(' ')}`)
    if (next.length > NEXT_STEPS_MAX) throw new Error(`${next.length} are planned at once`)
    const effects = [...this.#pending.map(({ entry }) => entry), ...next].filter(isEffect)
    const isEnd = typeof then === 'object' && !('failed' in then)
    if (isEnd && effects.length > 0) throw new Error('an end leaves a call pending')
    if (then === 'now' && ran.length + next.length === 0) throw new Error('the plan adds nothing')
    if (then === 'any' && next.length + this.#pending.length === 0)
      throw new Error('the plan waits for nothing')
    if (next.some(({ branch }) => 'role' in branch && branch.role === 'pivot') && effects.length > 1) {
      throw new Error('a pivot stands beside something that has an effect')
    }
  }

  #endOf(entry: NextEntry, index: number): number {
    if (entry.is === 'timer') return this.#now + ((entry.branch.wait as { ms: number }).ms ?? 0)
    const reply = this.#replyTo(entry)
    if (entry.is !== 'signal') return this.#now + (reply?.afterMs ?? 10 + index)
    const { timeoutMs = 30 * 86_400_000 } = entry.branch.wait as { timeoutMs?: number }
    return reply === undefined
      ? this.#now + timeoutMs
      : Math.min(1_000 + (reply.afterMs ?? 0), this.#now + timeoutMs)
  }

  #replyTo({ id, is, name }: NextEntry): Reply | undefined {
    return this.#world.replies?.[is === 'signal' ? name : id]
  }

  #endPending(then: 'now' | 'any' | 'all'): void {
    if (then === 'now') return
    const { together = 1 } = this.#world
    for (let ended = 1; this.#pending.length > 0; ended++) {
      const isFailed = this.#endOne().failed !== undefined
      if (ended >= together && (then === 'any' || isFailed)) return
    }
  }

  #endOne(): JournalEntry {
    const inTime = [...this.#pending].sort((one, other) => one.endAt - other.endAt)
    const chosen = this.#world.choose?.(inTime.map(({ entry }) => entry.id)) ?? inTime[0]?.entry.id
    const pending = this.#pending.find(({ entry }) => entry.id === chosen)
    if (pending === undefined) throw new Error('nothing is pending')
    this.#pending = this.#pending.filter((each) => each !== pending)
    this.#now = Math.max(this.#now, pending.endAt)
    const { id, is, name } = pending.entry
    const slot = readSlot(pending.entry)
    const end = {
      id,
      is,
      name,
      ...(slot === undefined ? {} : { slot }),
      ...this.#outcome(pending),
      at: this.#now,
    }
    this.#journal.push(end as JournalEntry)
    return end as JournalEntry
  }

  #outcome({ entry, endAt }: Pending): Reply {
    if (entry.is === 'step') return this.#callStep(entry)
    if (entry.is === 'timer') return {}
    const reply = this.#replyTo(entry)
    if (entry.is === 'signal') {
      const isThere = reply !== undefined && 1_000 + (reply.afterMs ?? 0) <= endAt
      return isThere ? { value: reply.value ?? null } : {}
    }
    if (reply?.failed !== undefined) return { failed: reply.failed }
    return { value: reply?.value ?? { of: entry.id } }
  }

  #callStep({ id, name, branch: { slot, input } }: Extract<NextEntry, { is: 'step' }>): Reply {
    try {
      return { value: this.#runOwnCall({ slot, id, name, input }) }
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

  #continue(input: unknown): void {
    this.#generation = { number: this.#generation.number + 1, acceptedAt: this.#now, input }
    this.#plan = 0
    this.#journal = []
    this.#seen = 0
    this.#pending = []
    this.#used = Math.max(this.#used, this.#granted)
  }
}

function readSlot({ is, branch }: NextEntry): string | undefined {
  return is === 'step' ? branch.slot : undefined
}

function isEffect({ is }: Pick<NextEntry, 'is'>): boolean {
  return is === 'call' || is === 'step'
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
