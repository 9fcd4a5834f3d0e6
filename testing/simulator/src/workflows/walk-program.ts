/**
 * Interprets a program as a handler does: it walks through the journal, runs local steps within the call by the rules that the
 * SDK has, and answers when it has to wait. What it asks for follows from the program and the journal alone, as with the code
 * of a user.
 */
import type { JournalEntry, JsonValue, PlanCall } from '@counterstep/protocol'
import { type InlineSpent, type mayRunInline, nameSlot, placeStep } from '@counterstep/workflow'
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

/** Says how a handler gives slots to steps with calls of their own. The right one is `behind` all that runs within the call. */
export type SlotRule = 'behind' | 'as-met' | 'although-cut'

export interface WalkRules {
  readonly mayRunInline: InlineRule
  /** A program that goes on as a new generation tells what it had seen, where a signal stands in the journal behind that. */
  readonly tellsSeen: boolean
  readonly slots: SlotRule
}

/** Something that the program asks for. */
interface Asked {
  readonly id: string
  readonly name: string
  readonly is: 'step' | 'call' | 'run' | 'timer' | 'signal'
  readonly role?: 'pivot' | 'retriable'
  readonly isAlone: boolean
  readonly hasUndo: boolean
  readonly ms: number
  readonly input: JsonValue
}

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
  | {
      readonly type: 'answer'
      readonly body: string
      readonly fails: boolean
      readonly continues?: Continued
    }

/** `input` is that of the next generation. The program had seen this many entries of the journal. */
export interface Continued {
  readonly input: string
  readonly seen: number
}

export function walkProgram(program: Program, call: PlanCall, state: InlineState, rules: WalkRules): Walked {
  const walk = new Walk(program, call, state, rules)
  const outcome = walk.run()
  if (typeof outcome === 'object' && outcome.type === 'run') return outcome
  const { gid, generation, plan } = call
  const head = { v: 1, gid, version: 1, generation, plan, ran: walk.ran, next: walk.next }
  const then = typeof outcome === 'object' ? outcome.then : outcome
  const body = JSON.stringify({ ...head, ...Object.fromEntries([['then', then]]) })
  const end = typeof then === 'object' ? then : {}
  const more =
    end.continue === undefined
      ? {}
      : { continues: { input: JSON.stringify(end.continue), seen: walk.countSeen() } }
  return { type: 'answer', body, fails: 'failed' in end, ...more }
}

/** The end of the program, or why there is no plan. */
interface End {
  readonly type: 'end'
  readonly then: Readonly<Record<string, JsonValue>>
}
/** Why the program goes no further: it waits, or has ended. */
type Waited = 'any' | 'all' | End
type Outcome = 'now' | Waited | Extract<Walked, { readonly type: 'run' }>

function toEnd(then: End['then']): End {
  return { type: 'end', then }
}

class Walk {
  readonly next: object[] = []
  ran: readonly RanEntry[]
  readonly #program: Program
  readonly #call: PlanCall
  readonly #isNew: boolean
  readonly #rules: WalkRules
  readonly #spent: InlineSpent
  readonly #journal: readonly (JournalEntry | RanEntry)[]
  readonly #pending: ReadonlySet<string>
  readonly #asked = new Set<string>()
  /** Everything that is asked for and not known, in the order of asking. */
  readonly #fresh: Asked[] = []
  #changed: string | undefined
  /** Something is pending that the program does not wait for. */
  #isListening = false
  #slot: number
  /** Everything that the program has seen. The inputs of later steps are built from it. */
  readonly #seen: JsonValue[] = []
  /** The last place of the journal that the program needed to come as far as it has come. */
  #lastPlace = -1

  constructor(program: Program, call: PlanCall, { ran, isNew, most }: InlineState, rules: WalkRules) {
    this.#program = program
    this.#call = call
    this.#isNew = isNew
    this.#rules = rules
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
    const { generations, fails } = this.#program
    const { generation } = this.#call
    const stages = generations[generation - 1] ?? []
    // A failure within the call is not shown to the program before it is durable.
    if (this.#spent.hasFailed && !this.#mayRun('run')) return 'now'
    for (const [index, stage] of stages.entries()) {
      const waited = this.#runStage(stage, index)
      if (waited !== undefined) return this.#checked(this.#goOn(waited))
    }
    // The input of the next generation says what the code has seen, and from which generation it comes.
    if (generation < generations.length)
      return this.#checked(
        this.#goOn(toEnd({ continue: { of: generation, seen: this.#seen }, ...this.#tellSeen() })),
      )
    const failed = { code: 'PROGRAM', message: 'it fails at its end' }
    return this.#checked(this.#goOn(toEnd(fails ? { failed } : { done: this.#seen })))
  }

  countSeen(): number {
    return Math.min(this.#lastPlace + 1, this.#call.journal.length)
  }

  #tellSeen(): { readonly seen?: number } {
    const seen = this.countSeen()
    const hasUnseen = this.#call.journal.slice(seen).some(({ is }) => is === 'signal')
    return hasUnseen && this.#rules.tellsSeen ? { seen } : {}
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

  #runStage(stage: Stage, index: number): Waited | undefined {
    const asks = this.#listAsks(stage, index)
    const isKnown = ({ id }: Asked) => this.#pending.has(id) || this.#journal.some((entry) => entry.id === id)
    if (stage.type === 'pivot' && !asks.some(isKnown) && this.#hasEffectsLeft()) return 'any'
    for (const { id, name } of asks) {
      this.#asked.add(id)
      this.#compareName(id, name)
    }
    const fresh = asks.filter((each) => !isKnown(each))
    this.#fresh.push(...fresh)
    const ids = asks.map(({ id }) => id)
    if (stage.type === 'listen') {
      this.#isListening ||= ids.some((id) => !this.#journal.some((entry) => entry.id === id))
      return undefined
    }
    const ended = this.#journal.filter(({ id }) => ids.includes(id))
    const isOver = stage.type === 'race' ? ended.length > 0 : ended.length === ids.length
    const waitsForOne = ['race', 'fork'].includes(stage.type) || this.#isListening || fresh.length === 0
    if (!isOver) return waitsForOne ? 'any' : 'all'
    // The program sees only the first one of a race, even if others end later.
    const [first] = ended
    const shown = stage.type === 'race' && first !== undefined ? [first] : ended
    for (const { id, value, failed } of shown) {
      const place = this.#journal.findIndex((entry) => entry.id === id)
      this.#lastPlace = Math.max(this.#lastPlace, place)
      this.#seen.push(failed === undefined ? { id, value: value ?? null } : { id, failed: failed.code })
      if (failed !== undefined && !stage.catches) return toEnd({ failed: { code: failed.code, message: id } })
      if (failed !== undefined && stage.type === 'pivot') return toEnd({ done: 'the pivot has failed' })
    }
    return undefined
  }

  /** Lists what a stage asks for, in the order of asking: what comes behind a timer when that stands in the journal. */
  #listAsks(stage: Stage, index: number): readonly Asked[] {
    const heads = stage.steps.map((_, position) => this.#toAsk(stage, position, index))
    if (stage.behind === undefined) return heads
    const behind = this.#journal.flatMap(({ id, value = null, failed }): readonly Asked[] => {
      const position = heads.findIndex((head) => id === head.id || id.startsWith(`${head.id}-`))
      const kind = stage.behind?.[position]
      const last = id.slice((heads[position]?.id.length ?? 0) + 1)
      // A step of a chain is asked for by the end of the one before.
      const numbers = last === '' ? (kind === 'two' ? [0, 1] : [0]) : [Number(last) + 1]
      const isEnd = last !== '' && (kind !== 'chain' || failed !== undefined || last === '2')
      if (kind === undefined || isEnd) return []
      const input = [...this.#seen, { id, value }]
      return numbers.map((number) => {
        const own = `${heads[position]?.id}-${number}`
        const name = this.#toName(own, index)
        const hasUndo = stage.steps[position]?.hasUndo ?? false
        return { id: own, name, is: 'step', isAlone: kind !== 'two', hasUndo, ms: 0, input }
      })
    })
    return [...heads, ...behind]
  }

  #toAsk(stage: Stage, position: number, index: number): Asked {
    const { isLocal = false, hasUndo = false } = stage.steps[position] ?? {}
    const id = `s${index}.${position}${this.#suffix(stage)}`
    const { type } = stage
    const ms = stage.isSpread ? stage.ms * (position + 1) : stage.ms
    const role =
      type === 'pivot'
        ? ({ role: 'pivot' } as const)
        : type === 'sure'
          ? ({ role: 'retriable' } as const)
          : {}
    const is =
      type === 'fork'
        ? 'timer'
        : type === 'listen'
          ? 'signal'
          : type === 'run' || type === 'timer' || type === 'signal'
            ? type
            : isLocal
              ? 'step'
              : 'call'
    const name = isLocal ? this.#toName(id, index) : id
    const isAlone = stage.steps.length === 1
    return {
      id,
      name,
      is,
      ...role,
      isAlone,
      hasUndo: hasUndo && !('role' in role),
      ms,
      input: [...this.#seen],
    }
  }

  /**
   * Runs the first that runs within the call, as long as the rules allow it, and otherwise plans the others. A failure of the
   * program ends it at once, and a result waits for what may have an effect.
   */
  #goOn(outcome: Waited): Outcome {
    if (typeof outcome === 'object' && 'failed' in outcome.then) return outcome
    const inline = this.#fresh.find((each) => each.is === 'run' || this.#isInline(each))
    if (this.#rules.slots === 'as-met' && inline !== undefined)
      this.#slot += this.#fresh.slice(0, this.#fresh.indexOf(inline)).filter(({ is }) => is === 'step').length
    if (inline !== undefined && this.#mayRun(inline.is === 'run' ? 'run' : 'step')) return this.#run(inline)
    const wanted = this.#fresh.filter((each) => this.#isPlanned(each, inline !== undefined, outcome))
    for (const each of wanted.slice(0, this.#program.nextMax)) this.next.push(this.#plan(each))
    if (inline !== undefined || this.next.length < wanted.length) return 'now'
    return typeof outcome === 'object' && this.#hasEffectsLeft() ? 'any' : outcome
  }

  #run({ id, name, is, hasUndo, role, input }: Asked): Outcome {
    const head =
      is === 'run'
        ? ({ is: 'run' } as const)
        : ({ is: 'step', slot: nameSlot(this.#slot), undo: hasUndo } as const)
    return { type: 'run', entry: { id, name, ...head }, input, isSure: role === 'retriable' }
  }

  #isPlanned(asked: Asked, isCut: boolean, outcome: Waited): boolean {
    if (asked.is === 'run' || this.#isInline(asked)) return false
    if (asked.is === 'step') return !isCut || this.#rules.slots === 'although-cut'
    return asked.is === 'call' || typeof outcome === 'string'
  }

  #isInline({ is, role, isAlone }: Asked): boolean {
    const { grant } = this.#call
    return (
      is === 'step' && placeStep({ hasBarrier: true, isPivot: role === 'pivot', isAlone, grant }) === 'inline'
    )
  }

  #mayRun(is: 'run' | 'step'): boolean {
    return this.#rules.mayRunInline(is, this.#slot, this.#spent, this.#call)
  }

  /** After a race the program goes another way for each winner, so its later steps have other names. */
  #suffix(stage: Stage): string {
    const last = this.#seen.at(-1)
    const won = typeof last === 'object' && last !== null && 'id' in last ? String(last.id) : ''
    return stage.type === 'pivot' || stage.type === 'sure' ? '' : won.slice(1, 5).replaceAll('.', '-')
  }

  #toName(id: string, index: number): string {
    return this.#isNew && index >= this.#program.renamedFrom ? `${id}new` : id
  }

  #compareName(id: string, name: string): void {
    const entries = [...this.#journal, ...this.#call.pending]
    const recorded = entries.find((entry) => entry.id === id && entry.is === 'step')
    if (recorded !== undefined && recorded.name !== name) this.#changed ??= id
  }

  #plan({ id, name, is, role, hasUndo, ms, input }: Asked): object {
    const more = role === undefined ? {} : { role }
    switch (is) {
      case 'timer':
        return { id, is, branch: { wait: { ms } } }
      case 'signal':
        return { id, is, name: 's', branch: { wait: { signal: 's', timeoutMs: ms, onTimeout: 'continue' } } }
      case 'step':
        return { id, is, name, branch: { slot: nameSlot(this.#slot++), input, undo: hasUndo, ...more } }
      default: {
        const compensation = { url: 'http://service.test/undo', template: { of: { $from: id, at: '/n' } } }
        const branch = {
          action: 'http://service.test/do',
          payload: input,
          ...(hasUndo ? { compensation } : {}),
          ...more,
        }
        return { id, is: 'call', name: 'service', branch }
      }
    }
  }

  #hasEffectsLeft(): boolean {
    return this.#listPendingCalls().length > 0 || this.#fresh.some(({ is }) => is === 'call' || is === 'step')
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
