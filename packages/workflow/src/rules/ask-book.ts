import {
  isBranchId,
  type JournalEntry,
  type PendingEntry,
  type PlanCall,
  type PlanRefusal,
  type RanEntry,
  STEPS_MAX,
} from '@counterstep/protocol'
import { WorkflowRuleError } from '../errors.ts'
import { copyHandedOn, copyJson } from '../json-text.ts'
import { BRANCH_BYTES_MAX, STEP_ID_LENGTH_MAX, STEP_INPUT_BYTES_MAX } from '../limits.ts'
import { type Ask, type AskRequest, hasEffect, isOutstanding } from './ask.ts'
import { findChangedAsk, refuseUnasked } from './match-journal.ts'
import { StepIds } from './step-ids.ts'

/** All that the function has asked for in one plan call, compared with the record as it comes. */
export class AskBook {
  readonly #ids = new StepIds()
  readonly #recorded: ReadonlyMap<string, JournalEntry | PendingEntry>
  readonly #unasked: Set<string>
  readonly #asks = new Map<string, Ask>()
  #turn = 0
  #idsTaken = 0
  #pivot: Ask | undefined
  #hasNoReturn = false
  #refusal: PlanRefusal | undefined

  constructor({ journal, pending }: PlanCall) {
    this.#recorded = new Map([...journal, ...pending].map((entry) => [entry.id, entry]))
    // A patch that the code no longer asks about is no change: all that it decided is in the journal.
    this.#unasked = new Set(
      [...this.#recorded.values()].flatMap(({ id, is }) => (is === 'patch' ? [] : [id])),
    )
  }

  /** Why this plan will be refused. The first reason counts. */
  get refusal(): PlanRefusal | undefined {
    return this.#refusal
  }

  get all(): Iterable<Ask> {
    return this.#asks.values()
  }

  get outstanding(): readonly Ask[] {
    return [...this.#asks.values()].filter(isOutstanding)
  }

  get hasNoReturn(): boolean {
    return this.#hasNoReturn
  }

  /** Whether something that can be undone was asked for. */
  get hasUndo(): boolean {
    return [...this.#asks.values()].some((ask) => ask.hasUndo)
  }

  find(id: string): Ask | undefined {
    return this.#asks.get(id)
  }

  /** Takes what the function asks for. It returns nothing if the plan will be refused: then the function waits for ever. */
  add(request: AskRequest): Ask | undefined {
    const id = this.#takeId(request.id)
    if (this.#refusal !== undefined || !this.#mayAsk(request, id)) return undefined
    const recorded = this.#recorded.get(id)
    this.#refusal = findChangedAsk(recorded, { ...request, id })
    if (this.#refusal !== undefined) return undefined
    this.#unasked.delete(id)
    const { write, ...rest } = request
    const known = { ...rest, id, turn: this.#turn }
    if (recorded !== undefined)
      return this.#keep({ ...known, state: 'at' in recorded ? 'journaled' : 'pending' })
    const content = write?.(id)
    const copy =
      request.is === 'step'
        ? copyHandedOn(content, STEP_INPUT_BYTES_MAX)
        : copyJson(content, BRANCH_BYTES_MAX)
    if ('fault' in copy) return void this.breakRule(`what ${id} is asked with ${copy.fault}`, id)
    return this.#keep({
      ...known,
      state: 'new',
      ...(copy.value === undefined ? {} : { content: copy.value }),
    })
  }

  /**
   * Answers whether this place is new code, with what is to be journaled if it is asked for the first time. It is new if
   * nothing is recorded that the function has still to ask for.
   */
  addPatch(name: string): boolean | (RanEntry & { readonly value: boolean }) {
    const id = this.#takeId(name)
    if (this.#refusal !== undefined) return false
    const recorded = this.#recorded.get(id)
    this.#refusal = findChangedAsk(recorded, { id, is: 'patch', name })
    if (this.#refusal !== undefined) return false
    if (recorded === undefined) return { id, is: 'patch', name, value: this.#unasked.size === 0 }
    return 'value' in recorded && recorded.value === true
  }

  /** Ends an ask. What the function asks for from here on is another turn. */
  end(ask: Ask, hasFailed: boolean): void {
    ask.state = 'ended'
    this.#turn += 1
    if (ask !== this.#pivot) return
    this.#hasNoReturn = !hasFailed
    const beside = this.outstanding.find((each) => hasEffect(each) && each.role === undefined)
    if (!hasFailed && beside !== undefined) {
      this.breakRule(
        `${beside.id} was asked for beside the pivot, so it could be undone when nothing else can`,
        beside.id,
      )
    }
  }

  /** Refuses the plan, because a rule of workflows is broken. */
  breakRule(message: string, id?: string): WorkflowRuleError {
    this.#refusal ??= { code: 'WORKFLOW_RULE_BROKEN', message, ...(id === undefined ? {} : { id }) }
    return new WorkflowRuleError(message)
  }

  /** Refuses the plan if something is recorded that the function has not asked for: that of this id, or any. */
  assertAsked(id?: string): void {
    const [first] = this.#unasked
    const recorded = this.#recorded.get(id ?? first ?? '')
    if (recorded === undefined) return
    const instead = this.outstanding.filter(({ state }) => state === 'new').map((each) => each.id)
    this.#refusal ??= refuseUnasked(recorded, instead)
  }

  /** A pivot waits until nothing else may have an effect, and what can be undone waits for the pivot's end. */
  isHeldBack(ask: Ask): boolean {
    if (!hasEffect(ask)) return false
    if (ask.role === 'pivot') return this.outstanding.some((each) => each !== ask && hasEffect(each))
    return ask.role === undefined && this.#pivot?.state === 'pending'
  }

  /** Says whether nothing else was asked for in the turn of this one. */
  isAlone(ask: Ask): boolean {
    return [...this.#asks.values()].every((each) => each === ask || each.turn !== ask.turn)
  }

  #keep(ask: Ask): Ask {
    this.#asks.set(ask.id, ask)
    if (ask.role === 'pivot') this.#pivot = ask
    return ask
  }

  /** Throws for what a function may do in an endless loop, since such a loop waits for no answer. */
  #takeId(id: string): string {
    if (!isBranchId(id) || id.length > STEP_ID_LENGTH_MAX) {
      const shown = JSON.stringify(String(id).slice(0, STEP_ID_LENGTH_MAX))
      throw this.breakRule(
        `the id ${shown} is not 1–${STEP_ID_LENGTH_MAX} characters of A-Z a-z 0-9 . _ : -, or is . or ..`,
      )
    }
    this.#idsTaken += 1
    if (this.#idsTaken > STEPS_MAX) {
      throw this.breakRule(`a generation has at most ${STEPS_MAX} steps: go on with ctx.continueWith`, id)
    }
    return this.#ids.take(id)
  }

  #mayAsk({ is, role }: AskRequest, id: string): boolean {
    const isSecond = this.#hasNoReturn || (this.#pivot !== undefined && isOutstanding(this.#pivot))
    if (role === 'pivot' && isSecond) {
      this.breakRule(`${id} is a second pivot, and a workflow has one`, id)
      return false
    }
    if (this.#hasNoReturn && role === undefined && hasEffect({ is })) {
      this.breakRule(`${id} is asked for behind the pivot: use the ctx that ctx.pivot has returned`, id)
      return false
    }
    return true
  }
}
