/**
 * Checks what may be seen outside on random walks of a TCC and of a message
 * through saves, conflicts, foreign commands and crashes.
 */
import type { Result } from '@counterstep/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ABORT, buildMessage, buildTcc, CHECK_AT, RETRY_NOW, register, SUBMIT } from '../../test/prepared.ts'
import { SETTINGS } from '../../test/run-fixture.ts'
import { buildRow, CREATED_AT } from '../../test/sagas.ts'
import { planCommand } from '../commands/command-row.ts'
import type { StoredTransaction, TransactionUpdate } from '../ports/store.ts'
import { decodeTransaction } from '../record/record.ts'
import type { Run } from '../run/run.ts'
import type { RunEffect, RunEvent } from '../run/run-events.ts'
import { stepRun } from '../run/step-run.ts'
import { takeOver } from '../run/take-over.ts'
import type { Transaction } from '../transaction.ts'
import type { CallKey, Command } from './events.ts'
import { RULES } from './rules.ts'

type Update = Omit<TransactionUpdate, 'writeId'>

interface Choice {
  readonly what: number
  readonly pick: number
  readonly result: Result
  readonly passes: number
}

const walks = fc.array(
  fc.record({
    what: fc.nat(99),
    pick: fc.nat(99),
    result: fc.constantFrom<Result>('success', 'success', 'success', 'failure', 'ongoing', 'unknown'),
    passes: fc.constantFrom(0, 1, 50, 400, 3_000),
  }),
  { minLength: 20, maxLength: 120 },
)

/** One row, at most one living run of it, and the calls that were sent. */
class Walk {
  row: StoredTransaction
  run: Run | undefined
  now = CREATED_AT
  readonly sent: { readonly call: CallKey; readonly durable: string }[] = []
  readonly accepted: { readonly command: Command['type']; readonly status: string }[] = []
  #calls: { readonly call: CallKey; readonly attempt: number }[] = []
  #save: Update | undefined
  #rereads = false
  #tokens = 0

  constructor(transaction: Transaction, dueAt: number) {
    this.row = buildRow(transaction, { owned: false, sentList: 'released', dueAt })
  }

  take({ what, pick, result, passes }: Choice): void {
    this.now += passes
    if (what < 6) this.crash()
    else if (what < 20) this.claim()
    else if (what < 34) this.command([SUBMIT, ABORT, RETRY_NOW, register(pick % 5)][pick % 4] ?? SUBMIT)
    else if (what < 44) this.commandHere([SUBMIT, ABORT, register(pick % 5)][pick % 3] ?? SUBMIT)
    else if (what < 66) this.answer(pick, result)
    else if (what < 90) this.store()
    else this.step({ type: 'tick' })
  }

  claim(): void {
    const { row } = this
    if ('finishedAt' in decodeTransaction(row)) return
    if ((row.owned && this.run !== undefined) || (!row.owned && row.dueAt > this.now)) return
    this.row = {
      ...row,
      owned: true,
      token: `t${this.#tokens++}`,
      epoch: row.epoch + 1,
      version: row.version + 1,
      claimsWithoutProgress: 0,
      sentList: row.sentList === 'released' ? 'held' : 'unknown',
    }
    const settings = { ...SETTINGS, leaseMs: 1_000_000_000 }
    const grant = { sentAt: this.now, now: this.now, storeNow: this.now }
    const taken = takeOver(RULES, this.row, settings, grant)
    if (taken.type !== 'run') throw new Error(taken.reason)
    this.run = taken.run
    this.step({ type: 'tick' })
  }

  /** Gives a command on a node that does not run the transaction. */
  command(command: Command): void {
    const settings = { retentionMs: SETTINGS.retentionMs, storeNow: this.now }
    const plan = planCommand(RULES, this.row, command, settings)
    if (plan.type !== 'update') return
    this.write(plan.update)
    this.accepted.push({ command: command.type, status: plan.update.status })
  }

  commandHere(command: Command): void {
    if (this.run !== undefined) this.step({ type: 'command', command })
  }

  answer(pick: number, result: Result): void {
    const [answered] = this.#calls.splice(pick % Math.max(1, this.#calls.length), 1)
    if (answered === undefined) return
    this.step({ type: 'answered', ...answered, answer: { result }, durationMs: 1, jitter01: 0 })
  }

  /** Ends the save or the reread that is under way. */
  store(): void {
    if (this.#rereads) {
      this.#rereads = false
      this.step({ type: 'reread', row: this.row })
      return
    }
    const save = this.#save
    if (save === undefined) return
    this.#save = undefined
    const isMine = save.token === this.row.token && save.version === this.row.version
    if (isMine) this.write(save)
    const { version } = this.row
    const type = save.token === this.row.token ? 'conflict' : 'fenced'
    const result = isMine ? ({ type: 'saved', version, now: this.now } as const) : { type, version }
    this.step({ type: 'saved', result: result as Extract<RunEvent, { type: 'saved' }>['result'] })
  }

  /** Crashes the node. Its calls go on, and a save in flight may have arrived or not. */
  crash(): void {
    this.run = undefined
    this.#calls = []
    if (this.now % 2 === 0) this.store()
    this.#save = undefined
    this.#rereads = false
  }

  write({ hold, ...update }: Update): void {
    const held = {
      owned: hold.type === 'keep' || (hold.type === 'command' && this.row.owned),
      dueAt:
        hold.type === 'release'
          ? hold.dueAt
          : hold.type === 'command'
            ? (hold.dueAt ?? this.now)
            : this.row.dueAt,
    }
    this.row = { ...this.row, ...update, ...held, version: this.row.version + 1, updatedAt: this.now }
  }

  step(event: RunEvent): void {
    if (this.run === undefined) return
    const { run, effects } = stepRun(RULES, this.run, event, this.now)
    this.run = run.ended ? undefined : run
    for (const effect of effects) this.#act(effect)
  }

  #act(effect: RunEffect): void {
    if (effect.type === 'call') {
      this.#calls.push({ call: effect.call, attempt: effect.attempt })
      this.sent.push({ call: effect.call, durable: this.row.status })
    }
    if (effect.type === 'save') this.#save = effect.update
    if (effect.type === 'reread') this.#rereads = true
  }

  /** Lets all calls succeed until the transaction is final. */
  finish(): void {
    for (let round = 0; round < 400 && !('finishedAt' in decodeTransaction(this.row)); round++) {
      this.now += 20_000
      this.claim()
      for (let turn = 0; turn < 6; turn++) {
        this.store()
        this.answer(0, 'success')
      }
      this.step({ type: 'tick' })
    }
  }
}

describe('a TCC on any walk', () => {
  it('A TCC on any walk ends, is never both confirmed and cancelled, and calls no branch before its decision is durable', () => {
    const ends = new Map<string, number>()
    fc.assert(
      fc.property(walks, fc.nat(3), (walk, count) => {
        const fixture = new Walk(buildTcc(count), CREATED_AT + 10_000)
        for (const choice of walk) fixture.take(choice)
        fixture.finish()
        const end = decodeTransaction(fixture.row)
        if (end.kind !== 'tcc') throw new Error('it is another kind')
        const ops = new Set(fixture.sent.map(({ call }) => call.op))
        expect(ops.size).toBeLessThanOrEqual(1)
        for (const { call, durable } of fixture.sent)
          expect([call.op, durable]).toEqual([call.op, call.op === 'confirm' ? 'submitted' : 'aborting'])
        const op = end.status === 'succeeded' ? 'confirm' : 'cancel'
        expect(end.branches.map((progress) => progress[op].state)).toEqual(
          end.registered.map(() => 'succeeded'),
        )
        // Answers of other nodes stay true, and each accepted branch is there.
        for (const { command, status } of fixture.accepted) {
          if (command === 'submit-asked') expect(end.status).toBe('succeeded')
          if (command === 'abort-asked') expect(end.status).toBe('failed')
          expect(['prepared', 'submitted', 'aborting', 'succeeded']).toContain(status)
        }
        ends.set(end.status, (ends.get(end.status) ?? 0) + 1)
      }),
      { numRuns: 600 },
    )
    expect([...ends.keys()].sort()).toEqual(['failed', 'succeeded'])
  })
})

describe('a message on any walk', () => {
  it('A message on any walk ends, and is delivered if and only if it was submitted or its sender said yes', () => {
    const ends = new Map<string, number>()
    fc.assert(
      fc.property(walks, fc.boolean(), (walk, concurrent) => {
        const fixture = new Walk(buildMessage(2, { concurrent }), CREATED_AT + 10_000)
        for (const choice of walk) fixture.take(choice)
        fixture.finish()
        const end = decodeTransaction(fixture.row)
        const delivered = fixture.sent.filter(({ call }) => call.branch !== CHECK_AT)
        for (const { durable } of delivered) expect(durable).toBe('submitted')
        const asked = fixture.sent.filter(({ call }) => call.branch === CHECK_AT)
        // Another node's submit may be durable before this node knows it.
        for (const { durable } of asked) expect(['prepared', 'submitted', 'failed']).toContain(durable)
        expect(new Set(delivered.map(({ call }) => call.branch)).size).toBe(
          end.status === 'succeeded' ? 2 : 0,
        )
        for (const { command } of fixture.accepted) {
          if (command === 'submit-asked') expect(end.status).toBe('succeeded')
          if (command === 'abort-asked') expect(end.status).toBe('failed')
        }
        ends.set(end.status, (ends.get(end.status) ?? 0) + 1)
      }),
      { numRuns: 600 },
    )
    expect([...ends.keys()].sort()).toEqual(['failed', 'succeeded'])
  })
})
