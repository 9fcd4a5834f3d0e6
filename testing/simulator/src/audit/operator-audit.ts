/**
 * Checks the commands of operators. An op has succeeded without an answer if and only if the trail has a skip of it (I26). An
 * entry of which a caller was told stays in every later version of the record (I27). No call starts while its runner knows a
 * pause (I28).
 */
import {
  type CallKey,
  type Command,
  findEntry,
  findNamedOp,
  findOp,
  getBranchTargets,
  isGiven,
  isPaused,
  listCalls,
  type Run,
  readStoreNow,
  type StoredTransaction,
  type Transaction,
} from '@counterstep/core'
import type { Gid, Op } from '@counterstep/protocol'
import { readRecord } from '../world/read-record.ts'
import type { SimStore } from '../world/sim-store.ts'
import type { World } from '../world/world.ts'
import type { AuditLog } from './audit-log.ts'

export class OperatorAudit {
  readonly #world: World
  readonly #audit: AuditLog
  #store: SimStore | undefined
  /** The ids of the commands that callers were told are durable. */
  readonly #told = new Map<Gid, Set<string>>()
  /** The ops that have answered success to some run. */
  readonly #answered = new Set<string>()
  readonly #edits = new Set<string>()

  constructor(world: World, audit: AuditLog) {
    this.#world = world
    this.#audit = audit
  }

  watch(store: SimStore): void {
    this.#store = store
  }

  noteSuccess(gid: Gid, call: CallKey): void {
    this.#answered.add(toKey(gid, call))
  }

  noteEdit(gid: Gid, branch: number, op: Op, body: string): void {
    this.#edits.add(`${toKey(gid, { branch, op })} ${body}`)
  }

  /** Tells whether an operator has given this body to the op. */
  isEdited(gid: Gid, branch: number, op: Op, body: string): boolean {
    return this.#edits.has(`${toKey(gid, { branch, op })} ${body}`)
  }

  /** Tells whether a person has declared an op of this branch done, so that its effects prove nothing. */
  isByHand(gid: Gid, branch: number): boolean {
    const row = this.#store?.read(gid)
    return row !== undefined && listHands(readRecord(row)).includes(branch)
  }

  /** Checks what a node is about to answer to an operator. */
  checkAnswer(gid: Gid, command: Command): void {
    if (!isGiven(command)) return
    this.#world.counters.operatorCommands++
    const told = this.#told.get(gid) ?? new Set()
    this.#told.set(gid, told.add(command.given.id))
    const row = this.#store?.read(gid)
    if (row !== undefined) this.#checkTrail(row, readRecord(row))
  }

  checkWrite(row: StoredTransaction): void {
    const transaction = readRecord(row)
    this.#checkTrail(row, transaction)
    this.#checkSuccesses(transaction)
  }

  #checkTrail({ gid }: StoredTransaction, transaction: Transaction): void {
    for (const id of this.#told.get(gid) ?? [])
      if (findEntry(transaction, id) === undefined)
        this.#audit.report('I27', gid, `command ${id} was told to be durable, and the trail lacks it`)
  }

  #checkSuccesses(transaction: Transaction): void {
    const { gid, trail = [] } = transaction
    for (const call of listCalls(transaction)) {
      const progress = findOp(transaction, call)
      const isWait =
        transaction.kind === 'saga' && transaction.definition.branches[call.branch]?.wait !== undefined
      if (progress?.state !== 'succeeded') continue
      const branchId = getBranchTargets(transaction)[call.branch]?.id
      const isSkipped = trail.some(
        ({ command, op }) => command === 'skip' && op?.branchId === branchId && op?.op === call.op,
      )
      const isAnswered = isWait || this.#answered.has(toKey(gid, call))
      if ((progress.byHand !== undefined) !== isSkipped || !(isSkipped || isAnswered))
        this.#audit.report('I26', gid, `${call.op} ${call.branch} has succeeded, skipped: ${isSkipped}`)
    }
    for (const { command, op } of trail) {
      if (command !== 'skip' || op === undefined) continue
      if (findNamedOp(transaction, op)?.progress.byHand === undefined)
        this.#audit.report('I26', gid, `the trail has a skip of ${op.op} ${op.branchId}, which was not done`)
    }
  }

  checkCall(run: Run, call: CallKey, nodeNow: number): void {
    const { transaction } = run
    if (isPaused(transaction, readStoreNow(run, nodeNow)))
      this.#audit.report('I28', transaction.gid, `${call.op} ${call.branch} started during a pause`)
  }
}

/** Lists the branches of which a person has declared an op done. */
export function listHands(transaction: Transaction): readonly number[] {
  if (transaction.trail === undefined) return []
  return listCalls(transaction).flatMap((call) =>
    findOp(transaction, call)?.byHand === undefined ? [] : [call.branch],
  )
}

function toKey(gid: Gid, { branch, op }: { readonly branch: number; readonly op: Op }): string {
  return `${gid} ${branch} ${op}`
}
