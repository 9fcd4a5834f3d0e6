/**
 * Interprets a program as a handler does: it walks through the journal, runs local steps within the call by the rules that the
 * SDK has, and answers when it has to wait. What it asks for follows from the program and the journal alone, as with the code
 * of a user.
 */
import type { JournalEntry, JsonValue, PlanCall } from '@counterstep/protocol'
import { type InlineSpent, mayRunInline, nameSlot, placeStep } from '@counterstep/workflow'
import type { Program, Stage } from './program.ts'

/** Something that has run within the call. */
export interface RanEntry {
  readonly id: string
  readonly is: 'step' | 'run'
  readonly name: string
  readonly slot?: string
  readonly undo?: boolean
  readonly value?: JsonValue
  readonly failed?: { readonly code: string; readonly message: string }
}

/** A handler in the middle of a plan call. */
export interface InlineState {
  readonly ran: readonly RanEntry[]
  /** The code is the new version. */
  readonly isNew: boolean
  /** Half of the time is over when so many have run. */
  readonly most: number
}

export type InlineRule = typeof mayRunInline

export type Walked =
  /** This runs next, within the call. */
  | {
      readonly type: 'run'
      readonly entry: RanEntry
      readonly input: JsonValue
      /** It stands behind the pivot, and so cannot fail. */
      readonly isSure: boolean
    }
  /** `fails`: the answer ends the workflow with a failure. */
  | { readonly type: 'answer'; readonly body: string; readonly fails: boolean }

export function walkProgram(
  program: Program,
  call: PlanCall,
  state: InlineState,
  rule: InlineRule = mayRunInline,
): Walked {
  const walk = new Walk(program, call, state, rule)
  const outcome = walk.run()
  if (typeof outcome === 'object' && outcome.type === 'run') return outcome
  const { gid, generation, plan } = call
  const head = { v: 1, gid, version: 1, generation, plan, ran: walk.ran, next: walk.next }
  const then = typeof outcome === 'object' ? outcome.then : outcome
  const body = JSON.stringify({ ...head, ...Object.fromEntries([['then', then]]) })
  return { type: 'answer', body, fails: typeof then === 'object' && 'failed' in then }
}

/** The end of the program, or why there is no plan. */
interface End {
  readonly type: 'end'
  readonly then: Readonly<Record<string, JsonValue>>
}
type Outcome = 'now' | 'any' | 'all' | End | Extract<Walked, { readonly type: 'run' }>

function toEnd(then: End['then']): End {
  return { type: 'end', then }
}

class Walk {
  readonly next: object[] = []
  ran: readonly RanEntry[]
  readonly #program: Program
  readonly #call: PlanCall
  readonly #isNew: boolean
  readonly #rule: InlineRule
  readonly #spent: InlineSpent
  readonly #journal: readonly (JournalEntry | RanEntry)[]
  readonly #pending: ReadonlySet<string>
  readonly #asked = new Set<string>()
  #changed: string | undefined
  #slot: number
  /** Everything that the program has seen. The inputs of later steps are built from it. */
  readonly #seen: JsonValue[] = []

  constructor(program: Program, call: PlanCall, { ran, isNew, most }: InlineState, rule: InlineRule) {
    this.#program = program
    this.#call = call
    this.#isNew = isNew
    this.#rule = rule
    this.ran = ran
    this.#journal = [...call.journal, ...ran]
    this.#pending = new Set(call.pending.map(({ id }) => id))
    this.#slot = call.grant.from + ran.filter(({ is }) => is === 'step').length
    this.#spent = {
      count: ran.length,
      hasRun: ran.some(({ is }) => is === 'run'),
      hasFailed: ran.some(({ failed }) => failed !== undefined),
      bytes: 0,
      isHalfOfTimeOver: ran.length >= most,
    }
  }

  run(): Outcome {
    const { stages, fails } = this.#program
    // A failure within the call is not shown to the program before it is durable.
    if (this.#spent.hasFailed && !this.#rule('run', this.#slot, this.#spent, this.#call)) return 'now'
    for (const [index, stage] of stages.entries()) {
      const outcome = this.#runStage(stage, index)
      if (outcome !== undefined) return this.#checked(outcome)
    }
    if (this.#listPendingCalls().length > 0) return this.#checked('any')
    if (fails) return this.#checked(toEnd({ failed: { code: 'PROGRAM', message: 'it fails at its end' } }))
    return this.#checked(toEnd({ done: this.#seen }))
  }

  /** The code must ask for everything that stands in the journal. Else it is other code, or the journal has another order. */
  #checked(outcome: Outcome): Outcome {
    const known = [...this.#journal.map(({ id }) => id), ...this.#pending]
    const forgotten = this.#changed ?? known.find((id) => !this.#asked.has(id))
    if (forgotten === undefined) return outcome
    this.next.length = 0
    this.ran = []
    return toEnd({ refused: { code: 'WORKFLOW_CHANGED', message: `${forgotten} was not asked for` } })
  }

  #runStage(stage: Stage, index: number): Outcome | undefined {
    const ids = stage.steps.map((_, position) => `s${index}.${position}${this.#suffix(stage)}`)
    if (stage.type === 'pivot' && this.#listPendingCalls().length > 0) return 'any'
    const isKnown = (id: string) => this.#pending.has(id) || this.#journal.some((entry) => entry.id === id)
    for (const [position, id] of ids.entries()) {
      this.#asked.add(id)
      this.#compareName(id, this.#nameOf(stage, position, id, index))
      if (isKnown(id)) continue
      const within = this.#tryWithin(stage, position, id, index)
      if (within !== undefined) return within
      this.#ask(stage, position, id, index)
    }
    const ended = this.#journal.filter(({ id }) => ids.includes(id))
    const isOver = stage.type === 'race' ? ended.length > 0 : ended.length === ids.length
    if (!isOver) return stage.type === 'race' || this.next.length === 0 ? 'any' : 'all'
    // The program sees only the first one of a race, even if others end later.
    const [first] = ended
    const shown = stage.type === 'race' && first !== undefined ? [first] : ended
    for (const { id, value, failed } of shown) {
      this.#seen.push(failed === undefined ? { id, value: value ?? null } : { id, failed: failed.code })
      if (failed !== undefined && !stage.catches) return toEnd({ failed: { code: failed.code, message: id } })
      if (failed !== undefined && stage.type === 'pivot') return toEnd({ done: 'the pivot has failed' })
    }
    return undefined
  }

  /** A result of the code and a single local step run within the call, as long as the rules allow it. */
  #tryWithin(stage: Stage, position: number, id: string, index: number): Outcome | undefined {
    const { grant } = this.#call
    const { isLocal = false, hasUndo = false } = stage.steps[position] ?? {}
    const isCalling = stage.type !== 'run' && stage.type !== 'timer' && stage.type !== 'signal'
    const isAlone = stage.steps.length === 1
    const place = placeStep({ hasBarrier: true, isPivot: stage.type === 'pivot', isAlone, grant })
    if (stage.type !== 'run' && !(isCalling && isLocal && place === 'inline')) return undefined
    const is = stage.type === 'run' ? 'run' : 'step'
    if (!this.#rule(is, this.#slot, this.#spent, this.#call)) return 'now'
    const name = this.#nameOf(stage, position, id, index)
    const undo = hasUndo && stage.type !== 'sure'
    const slot = is === 'run' ? {} : { slot: nameSlot(this.#slot), undo }
    const entry = { id, is, name, ...slot } as const
    return { type: 'run', entry, input: [...this.#seen], isSure: stage.type === 'sure' }
  }

  /** After a race the program goes another way for each winner, so its later steps have other names. */
  #suffix(stage: Stage): string {
    const last = this.#seen.at(-1)
    const won = typeof last === 'object' && last !== null && 'id' in last ? String(last.id) : ''
    return stage.type === 'pivot' || stage.type === 'sure' ? '' : won.slice(1, 5).replaceAll('.', '-')
  }

  #nameOf(stage: Stage, position: number, id: string, index: number): string {
    if (stage.steps[position]?.isLocal !== true) return id
    return this.#isNew && index >= this.#program.renamedFrom ? `${id}new` : id
  }

  #compareName(id: string, name: string): void {
    const entries = [...this.#journal, ...this.#call.pending]
    const recorded = entries.find((entry) => entry.id === id && entry.is === 'step')
    if (recorded !== undefined && recorded.name !== name) this.#changed ??= id
  }

  #ask(stage: Stage, position: number, id: string, index: number): void {
    const { isLocal = false, hasUndo = true } = stage.steps[position] ?? {}
    const { type } = stage
    if (type === 'timer') this.next.push({ id, is: 'timer', branch: { wait: { ms: stage.ms } } })
    else if (type === 'signal') {
      const wait = { signal: 's', timeoutMs: stage.ms, onTimeout: 'continue' }
      this.next.push({ id, is: 'signal', name: 's', branch: { wait } })
    } else {
      const role = type === 'pivot' ? { role: 'pivot' } : type === 'sure' ? { role: 'retriable' } : {}
      const name = this.#nameOf(stage, position, id, index)
      this.next.push(isLocal ? this.#askLocal(id, name, hasUndo, role) : this.#askCall(id, hasUndo, role))
    }
  }

  #askLocal(id: string, name: string, undo: boolean, role: object): object {
    const slot = nameSlot(this.#slot++)
    const branch = { slot, input: this.#seen, undo: undo && !('role' in role), ...role }
    return { id, is: 'step', name, branch }
  }

  #askCall(id: string, hasUndo: boolean, role: object): object {
    const compensation = { url: 'http://service.test/undo', template: { of: { $from: id, at: '/n' } } }
    const undo = hasUndo && !('role' in role) ? { compensation } : {}
    const branch = { action: 'http://service.test/do', payload: this.#seen, ...undo, ...role }
    return { id, is: 'call', name: 'service', branch }
  }

  #listPendingCalls(): readonly string[] {
    const waits = new Set(
      this.#call.pending.filter(({ is }) => is === 'timer' || is === 'signal').map(({ id }) => id),
    )
    return [...this.#pending].filter(
      (id) => !waits.has(id) && !this.#journal.some((entry) => entry.id === id),
    )
  }
}
