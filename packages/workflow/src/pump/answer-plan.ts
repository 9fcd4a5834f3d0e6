import {
  FAILURE_CODE_LENGTH_MAX,
  FAILURE_MESSAGE_LENGTH_MAX,
  type JsonValue,
  KEPT_VALUE_BYTES_MAX,
  type PlanAnswer,
  type PlanCall,
  type PlanFailure,
  type PlanOutcome,
} from '@counterstep/protocol'
import { RefusedStepError, StepError } from '../errors.ts'
import { copyHandedOn, copyJson } from '../json-text.ts'
import type { Ask } from '../rules/ask.ts'
import { writeAnswer } from '../rules/build-answer.ts'
import { findWorkflow } from '../rules/find-workflow.ts'
import { type Move, PlanRun } from '../rules/plan-run.ts'
import { AskPromises } from './ask-promises.ts'
import { createPlanContext } from './create-plan-context.ts'
import type { PlanContext } from './plan-context.ts'

/** A workflow, as code. */
export interface WorkflowProgram {
  readonly name: string
  readonly version: number
  /** Whether its local steps commit together with a row of a barrier, so that they may run within a plan call. */
  readonly hasBarrier: boolean
  readonly run: (ctx: PlanContext, input: unknown) => unknown
}

/** A local step to be run under a granted slot. */
export interface SlotRun {
  readonly slot: string
  readonly id: string
  readonly name: string
  readonly input: unknown
}

/** The process that the pump runs in. */
export interface PlanHost {
  /**
   * Resolves in a later macrotask, before which the queue of microtasks is empty: `setImmediate`. By then a function that
   * awaits only ctx and native promises has gone as far as it can, however deep its promises are.
   */
  readonly nextTurn: () => Promise<void>
  /**
   * Runs a step and commits its name, input and value with its effect, or returns the value of the row that is there. It
   * throws a business failure, a {@link RefusedStepError}, or anything else, after which the plan is asked again. A value
   * must be found too large before it is committed.
   */
  readonly runStep: (step: SlotRun) => Promise<unknown>
  /** How long this plan call has taken, and how long it may take. */
  readonly elapsedMs: () => number
  readonly budgetMs: number
  /** Makes the error that the function gets for a failure. It must be one that `readFailure` reads. */
  readonly createFailure: (failed: PlanFailure) => Error
  /** Reads a business failure, and returns undefined for any other error. */
  readonly readFailure: (error: unknown) => PlanFailure | undefined
  /**
   * Calls `run`, and until the watch is closed keeps from the process what promises that it has made are rejected with while
   * nothing handles them; the host decides where later ones go. Without it a process ends where the function awaits two of its promises one after the other, and the
   * second one fails first.
   */
  readonly watchRejections?: (run: () => void) => RejectionWatch
}

export interface RejectionWatch {
  /** The reasons of the rejections that nothing has handled so far. */
  readonly reasons: readonly unknown[]
  /** From now on nothing more comes into `reasons`: the plan is answered. */
  readonly close: () => void
}

/**
 * Answers one plan call: runs the function of its workflow, gives it the journal one entry at a time, and returns what it
 * asks for next. Throws a {@link StepError} if a step or the function threw: then nothing is answered, and the same plan
 * is asked again.
 */
export async function answerPlan(
  workflows: readonly WorkflowProgram[],
  call: PlanCall,
  host: PlanHost,
): Promise<PlanAnswer> {
  const program = findWorkflow(workflows, call)
  if (!('refused' in program)) return new Pump(program, call, host).answer()
  return writeAnswer(call, call.version, { ran: [], next: [] }, program)
}

class Pump {
  readonly #program: WorkflowProgram
  readonly #call: PlanCall
  readonly #host: PlanHost
  readonly #promises = new AskPromises()
  readonly #run: PlanRun
  #thrown: { readonly error: unknown } | undefined
  #rejections: RejectionWatch | undefined

  constructor(program: WorkflowProgram, call: PlanCall, host: PlanHost) {
    this.#program = program
    this.#call = call
    this.#host = host
    this.#run = new PlanRun(call, {
      version: program.version,
      hasBarrier: program.hasBarrier,
      waitsForAll: (asks) => this.#promises.waitForAll(asks),
    })
  }

  async answer(): Promise<PlanAnswer> {
    try {
      this.#start()
      for (;;) {
        // Between two results the function goes as far as it can, so a race has the same winner on every replay.
        await this.#host.nextTurn()
        const thrown = this.#thrown ?? this.#findUnhandledError()
        if (thrown !== undefined && !this.#run.isRefused) throw new StepError(undefined, thrown.error)
        const { elapsedMs, budgetMs } = this.#host
        const move = await this.#make(this.#run.advance(elapsedMs() * 2 >= budgetMs))
        if (move !== undefined) return move
      }
    } finally {
      this.#promises.close()
      this.#rejections?.close()
    }
  }

  #start(): void {
    const ctx = createPlanContext({
      call: this.#call,
      version: this.#program.version,
      run: this.#run,
      promises: this.#promises,
    })
    const begin = async (): Promise<unknown> => this.#program.run(ctx, copyValue(this.#call.input))
    const start = (): void =>
      void begin().then(
        (value) => this.#endWith(value),
        (error: unknown) => this.#endByError(error),
      )
    const { watchRejections } = this.#host
    if (watchRejections === undefined) start()
    else this.#rejections = watchRejections(start)
  }

  #endWith(value: unknown): void {
    const copy = copyJson(value, KEPT_VALUE_BYTES_MAX)
    if ('fault' in copy) this.#run.breakRule(`the result of the workflow ${copy.fault}`)
    else this.#run.end({ done: copy.value ?? null })
  }

  #endByError(error: unknown): void {
    const failed = this.#host.readFailure(error)
    if (failed !== undefined) this.#run.end({ failed: boundFailure(failed) })
    else this.#thrown = { error }
  }

  /** Finds an error in a promise of the function that nothing awaits yet. A failure there may still be awaited in a later plan. */
  #findUnhandledError(): { readonly error: unknown } | undefined {
    const errors = this.#rejections?.reasons ?? []
    const at = errors.findIndex((error) => this.#host.readFailure(error) === undefined)
    return at < 0 ? undefined : { error: errors[at] }
  }

  /** Refuses an end at which a promise of the function has failed and nothing has awaited it: then nothing has seen that. */
  #end(answer: PlanAnswer): PlanAnswer {
    const [error = this.#promises.findUnheardFailure()?.reason] = this.#rejections?.reasons ?? []
    const failed = this.#host.readFailure(error)
    const { then } = answer
    if (failed === undefined || typeof then !== 'object' || 'failed' in then || 'refused' in then)
      return answer
    const { code } = boundFailure(failed)
    const message = `the function has ended and never awaits a promise of its own that has failed with ${code}`
    return this.#run.refuse({ code: 'WORKFLOW_RULE_BROKEN', message })
  }

  async #make(move: Move): Promise<PlanAnswer | undefined> {
    if (move.move === 'answer') return this.#end(move.answer)
    if (move.move === 'deliver') {
      const { ask, outcome } = move
      if (outcome.failed === undefined) this.#promises.resolve(ask, copyValue(outcome.value))
      else this.#promises.reject(ask, this.#host.createFailure(outcome.failed))
      return undefined
    }
    const outcome = await this.#runInline(move.ask, move.slot)
    if ('refused' in outcome) return this.#run.refuse(outcome.refused)
    this.#run.endInline(move.ask, outcome)
    return undefined
  }

  async #runInline(
    ask: Ask,
    slot: string | undefined,
  ): Promise<PlanOutcome | Extract<PlanAnswer['then'], { refused: unknown }>> {
    const { id, name, content: input } = ask
    try {
      const value =
        slot === undefined
          ? await this.#promises.runCode(ask)
          : await this.#host.runStep({ slot, id, name, input })
      const copy = copyHandedOn(value, KEPT_VALUE_BYTES_MAX)
      if ('fault' in copy)
        return { refused: { code: 'WORKFLOW_RULE_BROKEN', message: `the value of ${id} ${copy.fault}`, id } }
      return copy.value === undefined ? {} : { value: copy.value }
    } catch (error: unknown) {
      if (error instanceof RefusedStepError) return { refused: error.refusal }
      const failed = this.#host.readFailure(error)
      // Nothing can be undone behind the pivot, so a step there is asked again until it succeeds.
      if (failed === undefined || ask.role === 'retriable') throw new StepError(id, error)
      return { failed: boundFailure(failed) }
    }
  }
}

/** The function gets a value of its own, since it may change it, and the value itself stands in the answer. */
function copyValue(value: JsonValue | undefined): JsonValue | undefined {
  return value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as JsonValue)
}

/** A failure must always be told, so what does not fit is left out. */
function boundFailure({ code, message, details }: PlanFailure): PlanFailure {
  const copy = copyHandedOn(details, KEPT_VALUE_BYTES_MAX / 2)
  const said = {
    code: code.slice(0, FAILURE_CODE_LENGTH_MAX) || 'BRANCH_FAILED',
    message: message.slice(0, FAILURE_MESSAGE_LENGTH_MAX),
  }
  return 'fault' in copy || copy.value === undefined ? said : { ...said, details: copy.value }
}
