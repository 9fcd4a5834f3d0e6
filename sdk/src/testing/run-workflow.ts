import type {
  JournalEntry,
  JsonValue,
  NextEntry,
  PlanAnswer,
  PlanCall,
  PlanOutcome,
} from '@counterstep/protocol'
import {
  answerPlan,
  type PlanHost,
  REHEARSAL_STARTS_AT,
  RefusedStepError,
  rehearse,
  type SlotRun,
  type Undoable,
} from '@counterstep/workflow'
import type { BranchFailure } from '../branch/branch-errors.ts'
import { createFailure, readFailure } from '../branch/failures.ts'
import { countGrantsByDefault } from '../workflow/grants.ts'
import { nextTurn } from '../workflow/next-turn.ts'
import { watchRejections } from '../workflow/watch-rejections.ts'
import type { Workflow } from '../workflow/workflow.ts'
import { WorkflowRefusedError } from '../workflow/workflow-refused-error.ts'
import { assertRepeatable } from './assert-repeatable.ts'
import { copyThroughJson } from './copy-through-json.ts'
import { type TrialSignal, TrialSignals } from './trial-signals.ts'
import { waitForClock } from './wait-for-clock.ts'

/** No step of a test is cut short because its time is over. */
const BUDGET_MS = 60_000

/**
 * Everything around a workflow that its test decides.
 *
 * @example
 * ```ts
 * const trial: WorkflowTrial = { answers: { charge: { paymentId: 'p-1' } }, delaysMs: { charge: 2_000 } }
 * ```
 */
export interface WorkflowTrial {
  /**
   * The answers of calls, by the id that the function gives them. A function gets the payload of the call, and may throw a
   * BranchFailure. A local step that has an answer here is not run; its function gets the input of the step.
   */
  readonly answers?: Readonly<Record<string, unknown>>
  /** How long calls and steps take, in virtual milliseconds. The default is 0. */
  readonly delaysMs?: Readonly<Record<string, number>>
  readonly signals?: readonly TrialSignal[]
  /** Local steps and what undoes them get this as their database transaction. */
  readonly tx?: unknown
}

/**
 * Something that has ended. `atMs` counts virtual milliseconds from the start.
 *
 * @example
 * ```ts
 * const charged = journal.find((entry: TrialEntry) => entry.id === 'charge')?.atMs
 * ```
 */
export interface TrialEntry {
  readonly id: string
  readonly is: 'step' | 'call' | 'run' | 'timer' | 'signal' | 'patch'
  readonly name: string
  readonly value?: unknown
  readonly failed?: { readonly code: string; readonly message: string }
  readonly atMs: number
}

interface Played {
  /** Everything that has ended, in this order. Those of earlier generations stand first. */
  readonly journal: readonly TrialEntry[]
  /**
   * The calls and steps that were undone, in this order: what has failed at once, and after a failure of the function what was
   * planned last first. A call that is still under way then is among them, and one that has failed, too.
   */
  readonly undone: readonly string[]
  /** The virtual time that it took. */
  readonly elapsedMs: number
}

/**
 * How a workflow has ended in its test.
 *
 * @example
 * ```ts
 * const outcome: WorkflowOutcome<{ payment: string }> = await runWorkflow(order, { sku: 'pen', cents: 5 }, trial)
 * if (outcome.status === 'failed') console.log(outcome.failure.code, outcome.undone)
 * ```
 */
export type WorkflowOutcome<Result> = Played &
  (
    | { readonly status: 'succeeded'; readonly result: Result }
    | { readonly status: 'failed'; readonly failure: BranchFailure }
  )

/**
 * Runs a workflow in a test, without a server, on virtual time: a sleep of a day takes no time. Each plan is asked twice,
 * from the beginning of the function, so time and chance that do not come from `ctx` are found at once. It follows
 * `ctx.continueWith` to the end of the last generation. What a server would undo is undone by the `undo` of local steps, and
 * calls that would be undone are listed.
 *
 * Code in `ctx.run` runs at least twice. Rejects with a {@link WorkflowRefusedError} if the code breaks a rule of
 * workflows or is not repeatable, with an error that has the thrown one as its cause if the function or a step throws
 * anything but a BranchFailure, and with a TypeError if a call has no answer.
 *
 * @example
 * ```ts
 * import { runWorkflow } from '@counterstep/sdk/testing'
 *
 * const { status, journal } = await runWorkflow(order, { sku: 'pen', cents: 1_250 }, {
 *   answers: { reserve: { id: 7 }, charge: ({ cents }: { cents: number }) => ({ paymentId: `p${cents}` }) },
 *   signals: [{ name: 'approved', payload: { by: 'ann' }, afterMs: 3_600_000 }],
 * })
 * ```
 */
export async function runWorkflow<Input, Result>(
  workflow: Workflow<Input, Result>,
  input: Input,
  trial: WorkflowTrial = {},
): Promise<WorkflowOutcome<Result>> {
  return new WorkflowRun(workflow, trial).play(input)
}

type StepEntry = Extract<NextEntry, { readonly is: 'step' }>

class WorkflowRun<Input, Result> {
  readonly #workflow: Workflow<Input, Result>
  readonly #trial: WorkflowTrial
  readonly #signals: TrialSignals
  /** The rows of the barrier, by slot: a step that is asked again finds its value. */
  readonly #rows = new Map<string, Pick<SlotRun, 'name' | 'input'> & { readonly value: JsonValue }>()
  readonly #undone: string[] = []

  constructor(workflow: Workflow<Input, Result>, trial: WorkflowTrial) {
    this.#workflow = workflow
    this.#trial = trial
    this.#signals = new TrialSignals(trial.signals ?? [])
  }

  async play(input: Input): Promise<WorkflowOutcome<Result>> {
    const { name, hasBarrier } = this.#workflow
    const { end, journal, earlier, at } = await rehearse({
      workflow: name,
      gid: `${name}-in-a-test`,
      input: copyThroughJson(input),
      grants: countGrantsByDefault(hasBarrier),
      ask: (call) => this.#askTwice(call),
      takeMs: (entry, now) => this.#takeMs(entry, now),
      end: (entry) => this.#end(entry),
      drop: (id) => this.#signals.giveBack(id),
      undo: (planned) => this.#undo(planned),
    })
    if ('refused' in end) throw new WorkflowRefusedError(end.refused.code, end.refused.message)
    const played = {
      journal: [...earlier, ...journal].map(toTrialEntry),
      undone: this.#undone,
      elapsedMs: at - REHEARSAL_STARTS_AT,
    }
    return 'failed' in end
      ? { status: 'failed', failure: createFailure(end.failed), ...played }
      : // The result comes out of JSON, as a client gets it.
        { status: 'succeeded', result: end.done as Result, ...played }
  }

  async #askTwice(call: PlanCall): Promise<PlanAnswer> {
    const first = await this.#ask(call)
    await waitForClock()
    assertRepeatable(first, await this.#ask(call))
    return first
  }

  #ask(call: PlanCall): Promise<PlanAnswer> {
    const host: PlanHost = {
      nextTurn,
      runStep: (step) => this.#runStep(step),
      elapsedMs: () => 0,
      budgetMs: BUDGET_MS,
      createFailure,
      readFailure,
      watchRejections,
    }
    return answerPlan([this.#workflow], call, host)
  }

  #takeMs(entry: NextEntry, now: number): number | undefined {
    if (entry.is === 'timer') return (entry.branch.wait as { readonly ms: number }).ms
    if (entry.is === 'signal') return this.#signals.takeMs(entry, now - REHEARSAL_STARTS_AT)
    return findById(this.#trial.delaysMs ?? {}, entry.id)?.value ?? 0
  }

  async #end(entry: NextEntry): Promise<PlanOutcome> {
    if (entry.is === 'signal') return { value: this.#signals.readPayload(entry.id) }
    try {
      if (entry.is === 'step') return { value: await this.#runStep(toSlotRun(entry)) }
      return { value: copyThroughJson(await this.#answer(entry)) }
    } catch (error: unknown) {
      const failed = readFailure(error)
      if (failed === undefined) throw error
      return { failed }
    }
  }

  #answer({ id, name, branch }: NextEntry): unknown {
    const given = findById(this.#trial.answers ?? {}, id)
    if (given === undefined)
      throw new TypeError(`the test has no answer for the call ${id} of ${name}: give it in answers`)
    const { payload, template } = branch as { readonly payload?: unknown; readonly template?: unknown }
    return givenAnswer(given.value, payload ?? template)
  }

  async #runStep({ slot, id, name, input }: SlotRun): Promise<JsonValue> {
    const row = this.#rows.get(slot)
    if (row?.name === name) return row.value
    if (row !== undefined)
      throw new RefusedStepError({ code: 'SLOT_TAKEN', message: `${slot} has the row of ${row.name}`, id })
    const given = findById(this.#trial.answers ?? {}, id)
    const step = this.#workflow.steps.find((each) => each.name === name)
    if (given === undefined && step === undefined) throw new TypeError(`there is no step ${name}`)
    if (given === undefined && this.#workflow.hasBarrier && this.#trial.tx === undefined)
      throw new TypeError(`the test has no tx for the step ${id}: give it tx, or give ${id} in answers`)
    const value = copyThroughJson(
      given === undefined
        ? await step?.do(this.#trial.tx as never, copyInput(input) as never)
        : await givenAnswer(given.value, input),
    )
    this.#rows.set(slot, { name, input, value })
    return value
  }

  /** Behind a barrier a step without a row is blocked, and nothing is undone. Without one its `undo` runs in any case. */
  async #undo({ id, is, name, slot = '', input }: Undoable): Promise<void> {
    const row = this.#rows.get(slot)
    if (is === 'step' && this.#workflow.hasBarrier && row === undefined) return
    this.#undone.push(id)
    if (is === 'call' || findById(this.#trial.answers ?? {}, id) !== undefined) return
    const step = this.#workflow.steps.find((each) => each.name === name)
    await step?.undo?.(this.#trial.tx as never, copyInput(row?.input ?? input) as never, row?.value as never)
  }
}

/** A step may take its input apart, which the row of a barrier keeps as it came. */
function copyInput(input: unknown): unknown {
  return input === undefined ? undefined : copyThroughJson(input)
}

function toSlotRun({ id, name, branch: { slot, input } }: StepEntry): SlotRun {
  return { slot, id, name, input }
}

/** A call that comes again has `.2` behind its id, and takes the answer of the first one if it has none of its own. */
function findById<Value>(
  given: Readonly<Record<string, Value>>,
  id: string,
): { readonly value: Value } | undefined {
  const key = [id, id.replace(/\.\d+$/, '')].find((each) => Object.hasOwn(given, each))
  return key === undefined ? undefined : { value: given[key] as Value }
}

async function givenAnswer(given: unknown, input: unknown): Promise<unknown> {
  return typeof given === 'function' ? given(input) : given
}

function toTrialEntry({ id, is, name, value, failed, at }: JournalEntry): TrialEntry {
  return {
    id,
    is,
    name,
    ...(value === undefined ? {} : { value }),
    ...(failed === undefined ? {} : { failed }),
    atMs: at - REHEARSAL_STARTS_AT,
  }
}
