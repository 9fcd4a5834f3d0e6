// An orchestrator in memory, on virtual time: it opens plans, keeps the journal, and ends what was planned in the order of
// time. It is for tests, of a user's workflow and of this package, so it has no retries. It undoes what the real one would, in
// its order.
import {
  JOURNAL_BYTES_MAX,
  type JournalEntry,
  type JsonValue,
  NEXT_STEPS_MAX,
  type NextEntry,
  type PlanAnswer,
  type PlanCall,
  type PlanEnd,
  type PlanOutcome,
  type PlanRefusal,
  type RanEntry,
  type StepCall,
  WAIT_END_MS_MAX,
} from '@counterstep/protocol'

/** The world around the orchestrator: the handler, and all that is called or waited for. */
export interface RehearsedWorld {
  readonly workflow: string
  readonly gid: string
  readonly input: unknown
  /** So many slots are granted with each plan. */
  readonly grants: number
  /** Asks the handler. Undefined: the answer was lost, and the plan is opened anew, with what has ended since. */
  readonly ask: (call: PlanCall) => Promise<PlanAnswer | undefined>
  /** How long something planned takes. Of a signal: how long it still takes to come, and undefined if it never does. */
  readonly takeMs: (entry: NextEntry, at: number) => number | undefined
  /** Says how something planned has ended. It is not asked about timers, and not about signals whose time was over. */
  readonly end: (entry: NextEntry) => PlanOutcome | Promise<PlanOutcome>
  /** Hears of what is dropped: what is pending when a generation ends, signals that its code has not seen, and those that a newer wait may take. */
  readonly drop?: (id: string) => void
  /** Undoes a call or a step which has something to undo: one that has failed, at once, and after a failure of the code all others. */
  readonly undo?: (planned: Undoable) => Promise<void>
  /** Chooses which of the pending ones ends next. The default is the one that ends first. */
  readonly choose?: (ids: readonly string[]) => string
  /** So many of the pending ones end before the next plan is opened. The default is 1. */
  readonly together?: number
}

export interface Rehearsed {
  readonly end: Exclude<PlanEnd, { readonly continue: unknown }> | { readonly refused: PlanRefusal }
  /** The journal of the last generation. */
  readonly journal: readonly JournalEntry[]
  /** The journals of those before it. */
  readonly earlier: readonly JournalEntry[]
  /** All generations together. */
  readonly plans: number
  /** The virtual time of the end. */
  readonly at: number
}

/** A call or a step that has ended, or was sent. */
export interface Undoable {
  readonly id: string
  readonly is: 'call' | 'step'
  readonly name: string
  readonly slot?: string
  /** Only a step with a call of its own has it. */
  readonly input?: JsonValue
}

interface Pending {
  readonly entry: NextEntry
  readonly startedAt: number
  readonly endAt: number
  /** A signal that does not come in time. */
  readonly isTimedOut: boolean
}

const PLANS_MAX = 2_000
/** The virtual time begins here, in epoch milliseconds. */
export const REHEARSAL_STARTS_AT = 1_000

/** Plays a workflow to its end. Throws an Error if a plan is not valid, or if there is no end after 2,000 plans. */
export async function rehearse(world: RehearsedWorld): Promise<Rehearsed> {
  return new Orchestrator(world).play()
}

class Orchestrator {
  readonly #world: RehearsedWorld
  #now = REHEARSAL_STARTS_AT
  #generation: { readonly number: number; readonly acceptedAt: number; readonly input: unknown }
  #plan = 0
  #plans = 0
  #version: number | undefined
  #journal: JournalEntry[] = []
  #earlier: readonly JournalEntry[] = []
  /** How many entries have been seen by a plan, which gives them their instant. */
  #seen = 0
  #pending: Pending[] = []
  #used = 0
  #granted = 0
  /** A step has failed within the last plan call, so the next plan has no grant, and later ones have other slots. */
  #hasFailedWithin = false
  /** Everything that is undone after a failure. What was planned knowing more has a higher rank. */
  #undoable: (Undoable & { readonly rank: number })[] = []
  #rank = 0
  #pivot: string | undefined

  constructor(world: RehearsedWorld) {
    this.#world = world
    this.#generation = { number: 1, acceptedAt: this.#now, input: world.input }
  }

  async play(): Promise<Rehearsed> {
    while (this.#plans < PLANS_MAX) {
      this.#plan += 1
      this.#plans += 1
      const answer = await this.#world.ask(this.#open())
      if (answer === undefined) {
        if (this.#pending.length > 0) await this.#endOne()
        continue
      }
      await this.#accept(answer)
      const { then } = answer
      if (typeof then === 'string') await this.#endPending(then)
      else if ('continue' in then) this.#continue(then)
      else {
        if ('failed' in then) await this.#undoAll()
        return this.#finish(then)
      }
    }
    throw new Error(`the workflow has not ended after ${PLANS_MAX} plans`)
  }

  #finish(end: Rehearsed['end']): Rehearsed {
    return { end, journal: this.#journal, earlier: this.#earlier, plans: this.#plans, at: this.#now }
  }

  #open(): PlanCall {
    const { grants, gid, workflow } = this.#world
    const { number, acceptedAt, input } = this.#generation
    this.#journal = this.#journal.map((entry, at) => (at < this.#seen ? entry : { ...entry, at: this.#now }))
    this.#seen = this.#journal.length
    const from = this.#used + 1
    const count = this.#hasFailedWithin ? 0 : grants
    this.#granted = Math.max(this.#granted, from + count - 1)
    return {
      v: 1,
      gid,
      workflow,
      ...(this.#version === undefined ? {} : { version: this.#version }),
      generation: number,
      plan: this.#plan,
      acceptedAt,
      startAt: acceptedAt,
      at: this.#now,
      input: (input ?? null) as NonNullable<PlanCall['input']>,
      journal: this.#journal,
      pending: this.#pending.map(({ entry }) => {
        const slot = readSlot(entry)
        return { id: entry.id, is: entry.is, name: entry.name, ...(slot === undefined ? {} : { slot }) }
      }),
      grant: { from, count },
      bytesLeft: JOURNAL_BYTES_MAX - JSON.stringify(this.#journal).length,
    }
  }

  async #accept({ version, generation, plan, ran, next, then }: PlanAnswer): Promise<void> {
    if (generation !== this.#generation.number || plan !== this.#plan)
      throw new Error('the answer is to another plan')
    if (typeof then === 'object' && 'refused' in then) return
    this.#version ??= version
    this.#assertGood({ ran, next, then })
    for (const { undo: _undo, ...entry } of ran)
      this.#journal.push({ ...entry, at: this.#now } as JournalEntry)
    this.#seen += ran.length
    this.#remember(ran, next)
    for (const { id, failed } of ran) if (failed !== undefined) await this.#undo(id)
    this.#startNext(next)
    this.#used += listSlots(ran, next).length
    this.#hasFailedWithin = ran.some(({ is, failed }) => is === 'step' && failed !== undefined)
    // Another attempt may have gone on behind the failure, so no later step gets a slot of this grant.
    if (this.#hasFailedWithin) this.#used = Math.max(this.#used, this.#granted)
  }

  /** The rules of a bad plan. */
  #assertGood({ ran, next, then }: Pick<PlanAnswer, 'ran' | 'next' | 'then'>): void {
    const known = [...this.#journal, ...this.#pending.map(({ entry }) => entry), ...ran, ...next].map(
      ({ id }) => id,
    )
    if (new Set(known).size !== known.length) throw new Error(`an id comes twice: ${known.join(' ')}`)
    if (next.length > NEXT_STEPS_MAX) throw new Error(`${next.length} are planned at once`)
    const slots = listSlots(ran, next)
    if (slots.some((slot, index) => slot !== `~${this.#used + 1 + index}`))
      throw new Error(`the slots ${slots.join(' ')} do not follow ~${this.#used}`)
    const effects = [...this.#pending.map(({ entry }) => entry), ...next].filter(isEffect)
    const isEnd = typeof then === 'object' && !('failed' in then)
    if (isEnd && effects.length > 0) throw new Error('an end leaves a call pending')
    const isEmpty = this.#generation.number > 1 && known.length === 0
    if (isEmpty && typeof then === 'object' && 'continue' in then)
      throw new Error('a generation goes on as a new one and has done nothing')
    if (then === 'now' && ran.length + next.length === 0) throw new Error('the plan adds nothing')
    if (this.#pivot !== undefined && typeof then === 'object' && 'failed' in then)
      throw new Error(
        `the function failed behind the pivot, where nothing can be undone: ${then.failed.message}`,
      )
    if (then === 'any' && next.length + this.#pending.length === 0)
      throw new Error('the plan waits for nothing')
    if (next.some(({ branch }) => 'role' in branch && branch.role === 'pivot') && effects.length > 1) {
      throw new Error('a pivot stands beside something that has an effect')
    }
  }

  /** Each step that has run within a plan call has a rank of its own, since the next one may build on it. */
  #remember(ran: PlanAnswer['ran'], next: PlanAnswer['next']): void {
    this.#rank += 1
    for (const { id, name, slot, undo } of ran) {
      if (undo === true && slot !== undefined)
        this.#undoable.push({ id, is: 'step', name, slot, rank: this.#rank++ })
    }
    for (const { id, is, name, branch } of next) {
      if ('role' in branch && branch.role === 'pivot') this.#pivot = id
      const rank = this.#rank
      if (is === 'step' && branch.undo) this.#undoable.push({ id, is, name, ...pickCall(branch), rank })
      if (is === 'call' && branch.compensation !== undefined) this.#undoable.push({ id, is, name, rank })
    }
  }

  async #undo(id: string): Promise<void> {
    const planned = this.#undoable.find((each) => each.id === id)
    if (planned === undefined) return
    this.#undoable = this.#undoable.filter((each) => each !== planned)
    await this.#world.undo?.(planned)
  }

  /** A call that is pending was sent, so it is undone, too. */
  async #undoAll(): Promise<void> {
    const byRank = [...this.#undoable].sort((one, other) => other.rank - one.rank)
    for (const { id } of byRank) await this.#undo(id)
  }

  /** Those of several open waits for one signal take it first that were planned last, so the older ones give theirs back before. */
  #startNext(next: readonly NextEntry[]): void {
    const { drop } = this.#world
    const hasSignals = next.some(({ is }) => is === 'signal')
    const older =
      hasSignals && drop !== undefined ? this.#pending.filter(({ entry }) => entry.is === 'signal') : []
    for (const { entry } of older) drop?.(entry.id)
    const started = next.map((entry) => this.#start(entry))
    const newestFirst = [...older].sort((one, other) => other.startedAt - one.startedAt)
    for (const wait of newestFirst)
      this.#pending[this.#pending.indexOf(wait)] = this.#start(wait.entry, wait.startedAt)
    this.#pending.push(...started)
  }

  #start(entry: NextEntry, startedAt = this.#now): Pending {
    const takesMs = this.#world.takeMs(entry, this.#now)
    if (entry.is !== 'signal')
      return { entry, startedAt, endAt: startedAt + (takesMs ?? 0), isTimedOut: false }
    const { timeoutMs = WAIT_END_MS_MAX } = entry.branch.wait as { timeoutMs?: number }
    const timeoutAt = startedAt + timeoutMs
    const comesAt = takesMs === undefined ? Number.POSITIVE_INFINITY : this.#now + takesMs
    if (comesAt <= timeoutAt) return { entry, startedAt, endAt: comesAt, isTimedOut: false }
    // Another wait may take what comes too late for this one.
    this.#world.drop?.(entry.id)
    return { entry, startedAt, endAt: timeoutAt, isTimedOut: true }
  }

  async #endPending(then: 'now' | 'any' | 'all'): Promise<void> {
    if (then === 'now') return
    const { together = 1 } = this.#world
    for (let ended = 1; this.#pending.length > 0; ended++) {
      const isFailed = (await this.#endOne()).failed !== undefined
      if (ended >= together && (then === 'any' || isFailed)) return
    }
  }

  async #endOne(): Promise<JournalEntry> {
    const inTime = [...this.#pending].sort((one, other) => one.endAt - other.endAt)
    const chosen = this.#world.choose?.(inTime.map(({ entry }) => entry.id)) ?? inTime[0]?.entry.id
    const pending = this.#pending.find(({ entry }) => entry.id === chosen)
    if (pending === undefined) throw new Error('nothing is pending')
    this.#pending = this.#pending.filter((each) => each !== pending)
    this.#now = Math.max(this.#now, pending.endAt)
    const { entry, isTimedOut } = pending
    const { id, is, name } = entry
    const slot = readSlot(entry)
    const outcome = is === 'timer' || isTimedOut ? {} : await this.#world.end(entry)
    const ended = { id, is, name, ...(slot === undefined ? {} : { slot }), ...outcome, at: this.#now }
    this.#journal.push(ended)
    if (ended.failed !== undefined) await this.#fail(entry, ended.failed.message)
    return ended
  }

  async #fail({ id, branch }: NextEntry, message: string): Promise<void> {
    if ('role' in branch && branch.role === 'retriable')
      throw new Error(`${id} refused behind the pivot, where it would be asked again for ever: ${message}`)
    if (id === this.#pivot) this.#pivot = undefined
    await this.#undo(id)
  }

  #continue({
    continue: input,
    seen = this.#journal.length,
  }: Extract<PlanEnd, { readonly continue: unknown }>): void {
    this.#generation = { number: this.#generation.number + 1, acceptedAt: this.#now, input }
    this.#plan = 0
    const unseen = this.#journal.slice(seen)
    this.#earlier = [...this.#earlier, ...this.#journal]
    this.#journal = []
    this.#seen = 0
    for (const { entry } of this.#pending) this.#world.drop?.(entry.id)
    for (const { id, is } of unseen) if (is === 'signal') this.#world.drop?.(id)
    this.#pending = []
    this.#undoable = []
    this.#used = Math.max(this.#used, this.#granted)
  }
}

/** Returns the slot of a local step. */
function readSlot(entry: NextEntry): string | undefined {
  return entry.is === 'step' ? entry.branch.slot : undefined
}

function pickCall({ slot, input }: StepCall): Pick<Undoable, 'slot' | 'input'> {
  return input === undefined ? { slot } : { slot, input }
}

/** Lists the slots that an answer takes. */
function listSlots(ran: PlanAnswer['ran'], next: PlanAnswer['next']): readonly string[] {
  return [...ran.map(({ slot }) => slot), ...next.map(readSlot)].filter((slot) => slot !== undefined)
}

function isEffect({ is }: Pick<RanEntry, 'is'>): boolean {
  return is === 'call' || is === 'step'
}
