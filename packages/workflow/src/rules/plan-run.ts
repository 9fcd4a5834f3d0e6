// The rules of one plan call, for whatever drives the function: the pump over promises, or an interpreter. Nothing here
// waits. The driver reports what the function asks for, and makes the next move whenever the function waits.
import type {
  JournalEntry,
  JsonValue,
  PlanAnswer,
  PlanCall,
  PlanEnd,
  PlanOutcome,
  PlanRefusal,
  PlanThen,
  RanEntry,
} from '@counterstep/protocol'
import { type Ask, type AskRequest, hasEffect } from './ask.ts'
import { AskBook } from './ask-book.ts'
import { countBytes, fillNext, writeAnswer } from './build-answer.ts'
import { type InlineSpent, mayRunInline, nameSlot, placeStep } from './inline-rules.ts'

/** Tells the driver its next move. After `deliver` it lets the function go on until that waits again. */
export type Move =
  | { readonly move: 'deliver'; readonly ask: Ask; readonly outcome: PlanOutcome }
  /** It runs the step under `slot`, or the code of a `ctx.run`, and reports the end with `endInline`. */
  | { readonly move: 'run'; readonly ask: Ask; readonly slot?: string }
  | { readonly move: 'answer'; readonly answer: PlanAnswer }

export interface PlanRunOptions {
  /** The version of the workflow that runs. */
  readonly version: number
  readonly hasBarrier: boolean
  /** Whether the function goes on only when all of these have ended. */
  readonly waitsForAll: (asks: readonly Ask[]) => boolean
}

const WAITS_OUTSIDE =
  'the function waits for something that is not of ctx. It may await only what ctx gives: put fetch, timers and other input and output into ctx.run.'

export class PlanRun {
  readonly #call: PlanCall
  readonly #options: PlanRunOptions
  readonly #book: AskBook
  readonly #ran: RanEntry[] = []
  readonly #delivered = { steps: 0, bytes: 0 }
  /** An end that came within this plan call and has not been delivered yet. */
  #fresh: { readonly ask: Ask; readonly entry: RanEntry } | undefined
  #journalAt = 0
  #now: number
  #nextSlot: number
  #spent: InlineSpent = { count: 0, hasRun: false, hasFailed: false, bytes: 0, isHalfOfTimeOver: false }
  #isCutShort = false
  #end: PlanEnd | undefined
  /** So many entries of the journal had been looked at when the function ended. */
  #journalAtEnd = 0

  constructor(call: PlanCall, options: PlanRunOptions) {
    this.#call = call
    this.#options = options
    this.#book = new AskBook(call)
    this.#now = call.startAt
    this.#nextSlot = call.grant.from
  }

  /** When this place of the function was first reached. It never goes back, whatever the store's clock does. */
  get now(): number {
    return this.#now
  }

  /** Counts the entries that have been delivered so far. It depends on the place in the function alone, and not on the plan. */
  get delivered(): { readonly steps: number; readonly bytes: number } {
    return this.#delivered
  }

  /** Whether the plan will be refused, whatever the function still does. */
  get isRefused(): boolean {
    return this.#book.refusal !== undefined
  }

  /** Whether the pivot has succeeded. */
  get hasNoReturn(): boolean {
    return this.#book.hasNoReturn
  }

  /** Whether something that can be undone was asked for. */
  get hasUndo(): boolean {
    return this.#book.hasUndo
  }

  /** Takes what the function asks for. It returns nothing if the plan will be refused: then the function waits for ever. */
  ask(request: AskRequest): Ask | undefined {
    return this.#book.add(request)
  }

  /** Answers whether this place is new code. What was answered once stays. */
  askPatched(name: string): boolean {
    const patch = this.#book.addPatch(name)
    if (typeof patch === 'boolean') return patch
    this.#ran.push(patch)
    return patch.value
  }

  /** Refuses the plan, because the function breaks a rule. The error is for a place that can give no answer. */
  breakRule(message: string, id?: string): Error {
    return this.#book.breakRule(message, id)
  }

  /** Reports how the function has ended. The first report counts. */
  end(end: PlanEnd): void {
    if (this.#end !== undefined) return
    this.#end = end
    this.#journalAtEnd = this.#journalAt
  }

  /** Decides what comes next, when the function waits or has ended. */
  advance(isHalfOfTimeOver: boolean): Move {
    const delivery = this.#deliverNext()
    if (delivery !== undefined) return delivery
    this.#book.assertAsked()
    if (this.#book.refusal !== undefined) return toMove(this.refuse(this.#book.refusal))
    if (this.#end !== undefined && 'failed' in this.#end) return this.#answer([], this.#end)
    this.#spent = { ...this.#spent, isHalfOfTimeOver }
    return this.#chooseInline() ?? this.#plan()
  }

  /** Takes how a step or a run ended. Its value is delivered next; a failure ends the run of this plan call. */
  endInline(ask: Ask, outcome: PlanOutcome): void {
    const { id, is, name, hasUndo, slot } = ask
    const place = is === 'step' && slot !== undefined ? { slot: nameSlot(slot), undo: hasUndo } : {}
    const entry: RanEntry = { id, is, name, ...place, ...outcome }
    this.#ran.push(entry)
    this.#spent = {
      ...this.#spent,
      count: this.#spent.count + 1,
      hasRun: this.#spent.hasRun || is === 'run',
      hasFailed: outcome.failed !== undefined,
      bytes: this.#spent.bytes + countBytes(entry as unknown as JsonValue),
    }
    if (outcome.failed === undefined) this.#fresh = { ask, entry }
    else this.#isCutShort = true
  }

  /** Answers with a refusal. Steps that have run stay in the barrier's rows, where the next attempt finds them. */
  refuse(refused: PlanRefusal): PlanAnswer {
    return { ...this.#write([], { refused }), ran: [] }
  }

  #deliverNext(): Move | undefined {
    if (this.#book.refusal !== undefined) return undefined
    let entry = this.#call.journal[this.#journalAt]
    // A patch was answered when it was asked for, and nothing waits for it.
    while (entry?.is === 'patch') entry = this.#call.journal[++this.#journalAt]
    if (entry !== undefined) {
      const ask = this.#book.find(entry.id)
      if (ask === undefined) return void this.#book.assertAsked(entry.id)
      this.#journalAt += 1
      return this.#deliver(ask, entry, entry.at)
    }
    const fresh = this.#fresh
    this.#fresh = undefined
    return fresh === undefined ? undefined : this.#deliver(fresh.ask, fresh.entry, this.#call.at)
  }

  #deliver(ask: Ask, entry: RanEntry | JournalEntry, at: number): Move {
    const outcome = readOutcome(entry)
    this.#now = Math.max(this.#now, at)
    this.#delivered.steps += 1
    this.#delivered.bytes += countBytes(outcome as unknown as JsonValue)
    this.#book.end(ask, outcome.failed !== undefined)
    return { move: 'deliver', ask, outcome }
  }

  #chooseInline(): Move | undefined {
    for (const ask of this.#book.all) {
      if (ask.state !== 'new' || this.#book.isHeldBack(ask)) continue
      if (ask.is !== 'run' && (ask.is !== 'step' || this.#placeStep(ask) !== 'inline')) continue
      if (this.#isCutShort || !mayRunInline(ask.is, this.#nextSlot, this.#spent, this.#call)) {
        this.#isCutShort = true
        return undefined
      }
      if (ask.is === 'run') return { move: 'run', ask }
      ask.slot = this.#nextSlot++
      return { move: 'run', ask, slot: nameSlot(ask.slot) }
    }
    return undefined
  }

  #placeStep(ask: Ask): 'inline' | 'own-call' {
    return placeStep({
      hasBarrier: this.#options.hasBarrier,
      isPivot: ask.role === 'pivot',
      isAlone: this.#book.isAlone(ask),
      grant: this.#call.grant,
    })
  }

  #plan(): Move {
    const { outstanding } = this.#book
    const isHeld = outstanding.some((each) => hasEffect(each) || each.is === 'run')
    // An end waits for what may have an effect, and drops timers and signals.
    if (this.#end !== undefined && !isHeld) return this.#answer([], this.#withSeen(this.#end))
    const wanted = outstanding.filter((each) => this.#isPlanned(each))
    const next = fillNext(wanted, this.#spent.bytes, this.#nextSlot)
    if (this.#isCutShort || next.length < wanted.length) return this.#answer(next, 'now')
    if (outstanding.length === 0)
      return toMove(this.refuse({ code: 'WORKFLOW_RULE_BROKEN', message: WAITS_OUTSIDE }))
    const isAllPlanned = outstanding.every((each) => each.state === 'pending' || wanted.includes(each))
    const waitsForAll = isAllPlanned && this.#end === undefined && this.#options.waitsForAll(outstanding)
    return this.#answer(next, waitsForAll ? 'all' : 'any')
  }

  /**
   * Once the run is cut short no step with a call of its own is planned: its slot would be the next one, under which another
   * attempt, which goes further, may run what comes before it.
   */
  #isPlanned(ask: Ask): boolean {
    if (ask.state !== 'new' || ask.is === 'run' || this.#book.isHeldBack(ask)) return false
    if (ask.is === 'step') return this.#placeStep(ask) === 'own-call' && !this.#isCutShort
    return ask.is === 'call' || this.#end === undefined
  }

  /** Signals that a function which goes on has not seen are for its next generation: their senders were told that they count. */
  #withSeen(end: PlanEnd): PlanEnd {
    const seen = this.#journalAtEnd
    const hasUnseen = this.#call.journal.slice(seen).some(({ is }) => is === 'signal')
    return 'continue' in end && hasUnseen ? { ...end, seen } : end
  }

  #answer(next: PlanAnswer['next'], then: PlanThen): Move {
    return toMove(this.#write(next, then))
  }

  #write(next: PlanAnswer['next'], then: PlanThen): PlanAnswer {
    return writeAnswer(this.#call, this.#options.version, { ran: [...this.#ran], next }, then)
  }
}

function toMove(answer: PlanAnswer): Move {
  return { move: 'answer', answer }
}

function readOutcome({ value, failed }: RanEntry | JournalEntry): PlanOutcome {
  if (failed !== undefined) return { failed }
  return value === undefined ? {} : { value }
}
