/**
 * An operator, who gives commands to a transaction on any node: pauses with and without an end, resumes, retries, skips and
 * edits. After the heal, the operator resumes what is paused and ends what waits for a person.
 */
import {
  type Command,
  findOp,
  type Given,
  getBranchTargets,
  isFinal,
  listCalls,
  type StoredTransaction,
  type Transaction,
} from '@counterstep/core'
import type { Gid, Op } from '@counterstep/protocol'
import type { Auditor } from '../audit/auditor.ts'
import { findPlanned } from '../audit/usable-values.ts'
import type { ValuesAudit } from '../audit/values-audit.ts'
import type { Node } from '../nodes/node.ts'
import { EVENT } from '../world/event-code.ts'
import type { Random } from '../world/random.ts'
import { readRecord } from '../world/read-record.ts'
import type { SimStore } from '../world/sim-store.ts'
import type { World } from '../world/world.ts'
import type { Plan } from './plan.ts'

const PATIENCE_MS = 700
const TRIES = 3
const LATEST_MS = 5_000
const PAUSE_MS_MAX = 1_500
/** How often the operator looks after the heal at what waits for a person. */
const CARE_MS = 200

export interface OperatorParts {
  readonly world: World
  readonly auditor: Auditor
  readonly values: ValuesAudit
  readonly store: SimStore
  readonly nodes: readonly Node[]
}

export class Operator {
  readonly #parts: OperatorParts
  readonly #plan: Plan
  readonly #random: Random
  #commands = 0

  constructor(parts: OperatorParts, plan: Plan) {
    this.#parts = parts
    this.#plan = plan
    this.#random = parts.world.getRandom(`operator ${plan.gid}`)
  }

  start(commands: number): void {
    for (let command = 0; command < commands; command++)
      this.#later(this.#random.between(0, LATEST_MS), () => this.#giveAny())
    this.#care()
  }

  get #gid(): Gid {
    return this.#plan.gid
  }

  #giveAny(): void {
    const { world, store } = this.#parts
    if (world.isHealed) return
    const row = store.read(this.#gid)
    const transaction = row === undefined ? undefined : readRecord(row)
    if (transaction === undefined) return
    const draw = this.#random.next()
    if (draw < 0.2) this.#pause(undefined)
    else if (draw < 0.35) this.#pause(world.storeNow + this.#random.between(20, PAUSE_MS_MAX))
    else if (draw < 0.42) this.#give({ type: 'resume-asked', given: this.#newGiven() })
    else if (draw < 0.5) this.#give({ type: 'retry-asked', given: this.#newGiven() })
    else if (draw < 0.54) this.#giveEnd(transaction)
    else this.#giveToOp(transaction, draw)
  }

  #pause(until: number | undefined): void {
    this.#parts.world.counters.pausesAsked++
    const end = until === undefined ? {} : { until }
    this.#give({ type: 'pause-asked', ...end, given: this.#newGiven() })
    if (until !== undefined) return
    this.#later(this.#random.between(50, PAUSE_MS_MAX), () =>
      this.#give({ type: 'resume-asked', given: this.#newGiven() }),
    )
  }

  /** Only a saga is aborted, because the client of another kind may have told the sender something else. */
  #giveEnd({ kind }: Transaction): void {
    const log = this.#parts.auditor.log(this.#gid)
    if (kind === 'saga') log.abortAsked = true
    else log.stopAsked = true
    this.#give({ type: kind === 'saga' ? 'abort-asked' : 'stop-asked', given: this.#newGiven() })
  }

  #giveToOp(transaction: Transaction, draw: number): void {
    const { counters } = this.#parts.world
    const calls = listCalls(transaction)
    const call = calls[this.#random.between(0, calls.length - 1)]
    const branchId = call === undefined ? undefined : getBranchTargets(transaction)[call.branch]?.id
    if (call === undefined || branchId === undefined) return
    const { branch, op } = call
    if (draw < 0.64) this.#give({ type: 'retry-op-asked', branchId, op, given: this.#newGiven() })
    else if (draw < 0.85) {
      counters.skipsAsked++
      this.#skip(branch, branchId, op, this.#random.chance(0.5) ? 'hand' : 'service')
    } else if (!this.#hasTemplate(branch, op)) {
      counters.editsAsked++
      const body = `{"edited":${++this.#commands}}`
      this.#parts.auditor.operators.noteEdit(this.#gid, branch, op, body)
      const edit = { body, contentType: 'application/json', timeoutMs: this.#random.between(100, 400) }
      this.#give({ type: 'edit-asked', branchId, op, edit, given: this.#newGiven() })
    }
  }

  /** The audit of values does not know edits. */
  #hasTemplate(branch: number, op: Op): boolean {
    const { kind, definition } = this.#plan
    if (kind !== 'saga' || (op !== 'action' && op !== 'compensate')) return false
    return findPlanned(definition.branches[branch], op) !== undefined
  }

  #skip(branch: number, branchId: string, op: Op, doneBy: 'service' | 'hand'): void {
    const value = `${1_000_000 + ++this.#commands}`
    this.#parts.values.noteAnswer(this.#gid, branch, value)
    const answer = `{"id":${value}}`
    this.#give({ type: 'skip-asked', branchId, op, doneBy, answer, given: this.#newGiven() })
  }

  #newGiven(): Given {
    const by = { via: 'api', key: { id: 'k', name: 'ops' } } as const
    return { id: `c${this.#parts.world.nextId()}`, by, confirm: 'no-call-took-effect' }
  }

  #give(command: Command, tries: number = TRIES): void {
    const { world, nodes } = this.#parts
    const node = nodes[this.#random.between(0, nodes.length - 1)]
    let isAnswered = false
    const isLost = this.#random.chance(world.faults.requestLoss)
    if (node?.isUp === true && !isLost)
      world.after(
        this.#random.between(1, 6),
        EVENT.clientArrival,
        () =>
          node.command(this.#gid, command, () => {
            isAnswered ||= !this.#random.chance(world.faults.answerLoss)
          }),
        node,
      )
    // The same command is given again where the answer did not come, perhaps on another node.
    if (tries > 1)
      this.#later(PATIENCE_MS, () => {
        if (!isAnswered) this.#give(command, tries - 1)
      })
  }

  /** Looks at the row as a person would, and does what only a person can do. */
  #care(): void {
    const { world, store } = this.#parts
    if (world.isQuiet) return
    const row = store.read(this.#gid)
    if (world.isHealed && row !== undefined) this.#careFor(row)
    this.#later(CARE_MS, () => this.#care())
  }

  #careFor(row: StoredTransaction): void {
    const transaction = readRecord(row)
    if (isFinal(transaction)) return
    if (transaction.paused !== undefined) this.#give({ type: 'resume-asked', given: this.#newGiven() }, 1)
    for (const call of listCalls(transaction)) {
      const branchId = getBranchTargets(transaction)[call.branch]?.id
      if (branchId === undefined || findOp(transaction, call)?.state !== 'by-hand') continue
      this.#parts.world.counters.undoneByHand++
      this.#skip(call.branch, branchId, call.op, 'hand')
    }
  }

  #later(delayMs: number, run: () => void): void {
    this.#parts.world.after(delayMs, EVENT.client, run)
  }
}
