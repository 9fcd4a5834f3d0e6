/** A run for which the test plays the engine, the branches and the store. */
import type { Result } from '@counterstep/protocol'
import type { SentList, StoredTransaction } from '../src/ports/store.ts'
import { findOp } from '../src/rules/op-progress.ts'
import { RULES } from '../src/rules/rules.ts'
import type { RunRoom } from '../src/run/plan-save.ts'
import type { Grant, Run, RunSettings } from '../src/run/run.ts'
import { acceptedRun, claimedRun } from '../src/run/run.ts'
import type { RunEffect, RunEvent } from '../src/run/run-events.ts'
import { stepRun } from '../src/run/step-run.ts'
import type { SagaOp, SagaTransaction, Transaction } from '../src/transaction.ts'
import { asSaga, buildAnswer, buildRow, CREATED_AT, TOKEN } from './sagas.ts'

export const SETTINGS: RunSettings = {
  leaseMs: 10_000,
  holdMs: 1_000,
  retentionMs: 604_800_000,
  releaseKeepsSentList: true,
}
/** The node's clock shows this when the store's shows CREATED_AT. */
export const NODE_START = 500
export const GRANT: Grant = { sentAt: NODE_START, now: NODE_START, storeNow: CREATED_AT }

export type Saved = Extract<RunEffect, { readonly type: 'save' }>['update']

export class RunFixture {
  run: Run
  now = NODE_START
  /** All saves that the run asked for. */
  readonly saves: Saved[] = []
  /** The effects of the last step. */
  effects: readonly RunEffect[] = []
  /** The room of the node. Undefined: it is ample. */
  room: RunRoom | undefined

  constructor(run: Run) {
    this.run = run
  }

  get saga(): SagaTransaction {
    return asSaga(this.run.transaction)
  }

  static accepted(transaction: Transaction, settings: Partial<RunSettings> = {}): RunFixture {
    return new RunFixture(acceptedRun(transaction, TOKEN, { ...SETTINGS, ...settings }, GRANT))
  }

  static claimed(
    transaction: Transaction,
    sentList: SentList,
    settings: Partial<RunSettings> = {},
    grant: Grant = GRANT,
  ): RunFixture {
    return new RunFixture(
      claimedRun(transaction, buildRow(transaction, { sentList }), { ...SETTINGS, ...settings }, grant),
    )
  }

  step(event: RunEvent): this {
    const step = stepRun(RULES, this.run, event, this.now, this.room)
    this.run = step.run
    this.effects = step.effects
    for (const effect of step.effects) if (effect.type === 'save') this.saves.push(effect.update)
    return this
  }

  tick(afterMs = 0): this {
    this.now += afterMs
    return this.step({ type: 'tick' })
  }

  /** Answers the call that is in flight. */
  answer(branch: number, op: SagaOp, result: Result): this {
    const attempt = findOp(this.run.transaction, { branch, op })?.attempts ?? 0
    const answer = buildAnswer(result)
    return this.step({ type: 'answered', call: { branch, op }, attempt, answer, durationMs: 3, jitter01: 0 })
  }

  /** Tells the run that the save in flight is durable. */
  saved(): this {
    return this.step({
      type: 'saved',
      result: { type: 'saved', version: this.run.version + 1, now: this.storeNow },
    })
  }

  conflict(): this {
    return this.step({ type: 'saved', result: { type: 'conflict', version: this.run.version + 1 } })
  }

  /** Answers a reread: another node wrote `transaction` under our token. */
  reread(transaction: Transaction, row: Partial<StoredTransaction> = {}): this {
    return this.step({
      type: 'reread',
      row: buildRow(transaction, { version: this.run.version + 1, ...row }),
    })
  }

  get storeNow(): number {
    return this.now + CREATED_AT - NODE_START
  }

  /** Writes each call of the last step as `01 action`. */
  get calls(): readonly string[] {
    return this.effects.flatMap((effect) =>
      effect.type === 'call'
        ? [`${String(effect.call.branch + 1).padStart(2, '0')} ${effect.call.op} #${effect.attempt}`]
        : [],
    )
  }

  get types(): readonly RunEffect['type'][] {
    return this.effects.map((effect) => effect.type)
  }

  /** The save that the last step asked for. */
  get save(): Saved | undefined {
    for (const effect of this.effects) if (effect.type === 'save') return effect.update
    return undefined
  }

  get wakeAt(): number | undefined {
    for (const effect of this.effects) if (effect.type === 'wake-at') return effect.at
    return undefined
  }

  /** The last change that the last step reported as durable. */
  get told(): number | undefined {
    for (const effect of this.effects) if (effect.type === 'durable') return effect.lastSavedChange
    return undefined
  }

  get end(): Extract<RunEffect, { readonly type: 'ended' }> | undefined {
    for (const effect of this.effects) if (effect.type === 'ended') return effect
    return undefined
  }
}
