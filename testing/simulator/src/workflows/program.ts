/**
 * The code of the workflows of a world: programs that a seed draws, and an interpreter that plays a handler. What it asks for
 * follows from the program and the journal alone, as with the code of a user.
 */
import type { Gid, JournalEntry, JsonValue, PlanCall } from '@counterstep/protocol'
import type { Random } from '../world/random.ts'

export interface Stage {
  readonly type: 'all' | 'race' | 'run' | 'timer' | 'signal' | 'pivot' | 'sure'
  /** For each step, whether it is a local step of the handler, and whether it can be undone. */
  readonly steps: readonly { readonly isLocal: boolean; readonly hasUndo: boolean }[]
  readonly ms: number
  /** A failure of a step is caught, and the program goes on. */
  readonly catches: boolean
}

export interface Program {
  readonly gid: Gid
  readonly stages: readonly Stage[]
  /** The program ends by a failure of its own. */
  readonly fails: boolean
}

export function drawProgram(random: Random, gid: Gid): Program {
  const stages: Stage[] = []
  for (let stage = random.between(1, 4); stage > 0; stage--) stages.push(drawStage(random))
  if (random.chance(0.25)) {
    const sole = { steps: [{ isLocal: random.chance(0.5), hasUndo: false }], ms: 0, catches: true }
    stages.push({ ...sole, type: 'pivot' }, { ...sole, type: 'sure' })
  }
  return { gid, stages, fails: stages.at(-1)?.type !== 'sure' && random.chance(0.25) }
}

function drawStage(random: Random): Stage {
  const draw = random.next()
  const type =
    draw < 0.4 ? 'all' : draw < 0.65 ? 'race' : draw < 0.75 ? 'run' : draw < 0.87 ? 'timer' : 'signal'
  const isCalling = type === 'all' || type === 'race'
  const count = isCalling ? random.between(1, 3) : 1
  const steps = Array.from({ length: count }, () => ({
    isLocal: random.chance(0.5),
    hasUndo: !random.chance(0.15),
  }))
  return { type, steps, ms: random.between(1, 400), catches: random.chance(0.6) }
}

export interface Answered {
  readonly body: string
  /** The answer ends the workflow with a failure. */
  readonly fails: boolean
}

/** Plays the handler: walks the program through the journal, until it has to wait. */
export function answerPlan(program: Program, call: PlanCall): Answered {
  const walk = new Walk(call)
  const outcome = walk.run(program)
  const { gid, generation, plan } = call
  const head = { v: 1, gid, version: 1, generation, plan, ran: walk.ran, next: walk.next }
  const body = JSON.stringify({ ...head, ...Object.fromEntries([['then', outcome]]) })
  return { body, fails: typeof outcome === 'object' && 'failed' in outcome }
}

type Outcome =
  | 'now'
  | 'any'
  | 'all'
  | Readonly<Record<'done' | 'failed' | 'refused', JsonValue>>
  | { readonly [end: string]: JsonValue }

class Walk {
  readonly ran: object[] = []
  readonly next: object[] = []
  readonly #call: PlanCall
  readonly #journal: ReadonlyMap<string, JournalEntry>
  readonly #pending: ReadonlySet<string>
  readonly #asked = new Set<string>()
  #slot: number
  /** Everything that the program has seen. The inputs of later steps are built from it. */
  readonly #seen: JsonValue[] = []

  constructor(call: PlanCall) {
    this.#call = call
    this.#journal = new Map(call.journal.map((entry) => [entry.id, entry]))
    this.#pending = new Set(call.pending.map(({ id }) => id))
    this.#slot = call.grant.from
  }

  run(program: Program): Outcome {
    for (const [index, stage] of program.stages.entries()) {
      const outcome = this.#runStage(stage, index)
      if (outcome !== undefined) return this.#checked(outcome)
    }
    if (this.#listPendingCalls().length > 0) return this.#checked('any')
    if (program.fails) return this.#checked({ failed: { code: 'PROGRAM', message: 'it fails at its end' } })
    return this.#checked({ done: this.#seen })
  }

  /** The code must ask for everything that stands in the journal. Else it is other code, or the journal has another order. */
  #checked(outcome: Outcome): Outcome {
    const forgotten = [...this.#journal.keys(), ...this.#pending].find((id) => !this.#asked.has(id))
    if (forgotten === undefined) return outcome
    this.next.length = 0
    this.ran.length = 0
    return { refused: { code: 'WORKFLOW_CHANGED', message: `${forgotten} was not asked for` } }
  }

  #runStage(stage: Stage, index: number): Outcome | undefined {
    const ids = stage.steps.map((_, position) => `s${index}.${position}${this.#suffix(stage)}`)
    if (stage.type === 'pivot' && this.#listPendingCalls().length > 0) return 'any'
    for (const [position, id] of ids.entries()) {
      this.#asked.add(id)
      if (!this.#journal.has(id) && !this.#pending.has(id)) this.#ask(stage, position, id)
    }
    if (stage.type === 'run' && this.ran.length > 0) return 'now'
    const ended = this.#call.journal.filter(({ id }) => ids.includes(id))
    const isOver = stage.type === 'race' ? ended.length > 0 : ended.length === ids.length
    if (!isOver) return stage.type === 'race' || this.next.length === 0 ? 'any' : 'all'
    // The program sees only the first one of a race, even if others end later.
    const [first] = ended
    const shown = stage.type === 'race' && first !== undefined ? [first] : ended
    for (const { id, value, failed } of shown) {
      this.#seen.push(failed === undefined ? { id, value: value ?? null } : { id, failed: failed.code })
      if (failed !== undefined && !stage.catches) return { failed: { code: failed.code, message: id } }
      if (failed !== undefined && stage.type === 'pivot') return { done: 'the pivot has failed' }
    }
    return undefined
  }

  /** After a race the program goes another way for each winner, so its later steps have other names. */
  #suffix(stage: Stage): string {
    const last = this.#seen.at(-1)
    const won = typeof last === 'object' && last !== null && 'id' in last ? String(last.id) : ''
    return stage.type === 'pivot' || stage.type === 'sure' ? '' : won.slice(1, 5).replaceAll('.', '-')
  }

  #ask(stage: Stage, position: number, id: string): void {
    const { isLocal = false, hasUndo = true } = stage.steps[position] ?? {}
    const { type } = stage
    if (type === 'run') this.ran.push({ id, is: 'run', name: id, value: this.#seen.length })
    else if (type === 'timer') this.next.push({ id, is: 'timer', branch: { wait: { ms: stage.ms } } })
    else if (type === 'signal') {
      const wait = { signal: 's', timeoutMs: stage.ms, onTimeout: 'continue' }
      this.next.push({ id, is: 'signal', name: 's', branch: { wait } })
    } else {
      const role = type === 'pivot' ? { role: 'pivot' } : type === 'sure' ? { role: 'retriable' } : {}
      this.next.push(isLocal ? this.#askLocal(id, hasUndo, role) : this.#askCall(id, hasUndo, role))
    }
  }

  #askLocal(id: string, undo: boolean, role: object): object {
    const branch = { slot: `~${this.#slot++}`, input: this.#seen, undo: undo && !('role' in role), ...role }
    return { id, is: 'step', name: id, branch }
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
    return [...this.#pending].filter((id) => !waits.has(id) && !this.#journal.has(id))
  }
}
