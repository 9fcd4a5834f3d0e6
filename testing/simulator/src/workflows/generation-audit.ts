/**
 * Remembers what the record has told of a workflow in all its generations, and checks that each generation leaves nothing open:
 * its record is dropped, and late copies of its calls still come.
 */
import { EARLIER, type WorkflowStep, type WorkflowTransaction } from '@counterstep/core'
import type { PlanCall } from '@counterstep/protocol'
import type { Services } from './services.ts'
import type { Continued, RanEntry } from './walk-program.ts'

type Report = (invariant: string, gid: string, text: string) => void

/** How a step of a generation has ended, as its code has seen it. */
interface Outcome {
  readonly branchId: string
  readonly name: string
  readonly hasFailed: boolean
}

/** The code had seen these when it went on: outcomes, and the waits for signals in some answer, and in all of them. */
interface Seen {
  readonly outcomes: readonly Outcome[]
  readonly sometimes: ReadonlySet<string>
  readonly always: ReadonlySet<string>
}

export class GenerationAudit {
  readonly #report: Report
  number = 1
  /** The outcomes of the generations that have ended. */
  readonly kept: Outcome[] = []
  /** Every step that the record ever had, by the id of its branch. */
  readonly steps = new Map<string, WorkflowStep>()
  /** The branches whose failure was ever durable. */
  readonly failures = new Set<string>()
  readonly #entries = new Set<string>()
  /** Each tells how far the code had come when it went on, by its generation and by the input of the next one. */
  readonly #continues = new Map<string, Seen>()

  constructor(report: Report) {
    this.#report = report
  }

  noteContinue(
    { generation, journal }: PlanCall,
    ran: readonly RanEntry[],
    { input, seen }: Continued,
  ): void {
    const outcomes = [...journal, ...ran].flatMap(({ id, is, name, slot, failed }): readonly Outcome[] =>
      is === 'step' || is === 'call'
        ? [{ branchId: slot ?? toBranchId(id, generation), name, hasFailed: failed !== undefined }]
        : [],
    )
    const key = `${generation} ${input}`
    const waits = new Set(journal.slice(0, seen).flatMap(({ id, is }) => (is === 'signal' ? [id] : [])))
    // Several attempts of the plan may have answered, and any of them may have been accepted.
    const { sometimes = waits, always = waits } = this.#continues.get(key) ?? {}
    this.#continues.set(key, {
      outcomes,
      sometimes: new Set([...sometimes, ...waits]),
      always: new Set([...always].filter((wait) => waits.has(wait))),
    })
  }

  /** Returns whether the row has begun a generation. */
  checkUpdate(before: WorkflowTransaction, workflow: WorkflowTransaction, services: Services): boolean {
    const { gid, generation, signals = [] } = workflow
    const { number = 1 } = generation ?? {}
    const lost = before.signals?.find(({ id }) => !signals.some((signal) => signal.id === id))
    if (lost !== undefined) this.#report('I34', gid, `the record forgets the signal ${lost.id}`)
    const hasBegun = number !== this.number
    if (hasBegun) this.#checkBegin(before, workflow, services)
    this.number = number
    this.#learn(workflow)
    return hasBegun
  }

  #checkBegin(before: WorkflowTransaction, workflow: WorkflowTransaction, services: Services): void {
    const { gid, generation, signals = [] } = workflow
    if (generation?.number !== this.number + 1) {
      this.#report('I40', gid, `generation ${generation?.number} comes behind ${this.number}`)
      return
    }
    const seen = this.#continues.get(`${this.number} ${generation.input}`)
    if (seen === undefined) {
      this.#report('I40', gid, `generation ${generation.number} has an input that no code has given`)
      return
    }
    this.kept.push(...seen.outcomes)
    for (const { id, takenBy = EARLIER } of before.signals ?? []) {
      const wait = before.steps[takenBy]?.id
      const isKept = signals.some((signal) => signal.id === id && signal.takenBy === undefined)
      if (wait !== undefined && !seen.sometimes.has(wait) && !isKept)
        this.#report('I34', gid, `the signal ${id} is gone, and no code has seen it`)
      if (wait !== undefined && seen.always.has(wait) && isKept)
        this.#report('I34', gid, `the signal ${id} is kept again, and the code has seen it`)
    }
    for (const id of this.failures)
      if (this.#mustBeUndone(id) && !services.state(gid, id).isCompensated)
        this.#report('I40', gid, `generation ${generation.number} has begun, and ${id} is not undone`)
  }

  #mustBeUndone(branchId: string): boolean {
    return this.steps.get(branchId)?.branch.compensation !== undefined
  }

  #learn(workflow: WorkflowTransaction): void {
    for (const [position, step] of workflow.steps.entries()) {
      const { state, values } = workflow.branches[position]?.action ?? {}
      this.steps.set(step.branch.id, step)
      if (state === 'failed') this.failures.add(step.branch.id)
      const whole = values?.[step.kept.indexOf('')] ?? 'null'
      if (state === 'failed' || state === 'succeeded')
        this.#entries.add(toEntry(this.number, step.id, state === 'failed' ? undefined : whole))
    }
  }

  /** Tells whether the record ever had this entry of a generation. Without a value it is a failure. */
  isRecorded(generation: number, id: string, value: string | undefined): boolean {
    return this.#entries.has(toEntry(generation, id, value))
  }

  /** I40: each step of each generation that has ended has its outcome. */
  checkEnd(gid: string, services: Services): void {
    for (const { branchId, hasFailed } of this.kept) {
      const { action, compensate } = services.state(gid, branchId)
      const isRight = hasFailed
        ? !this.#mustBeUndone(branchId) || action === compensate
        : action === 1 && compensate === 0
      if (!isRight)
        this.#report(
          'I40',
          gid,
          `${branchId} ${hasFailed ? 'has failed' : 'is kept'}, but has ${action} action and ${compensate} compensation effects`,
        )
    }
  }
}

function toBranchId(id: string, generation: number): string {
  return generation === 1 ? id : `${id}~${generation}`
}

function toEntry(generation: number, id: string, value: string | undefined): string {
  return `${generation} ${id} ${value ?? 'failed'}`
}
