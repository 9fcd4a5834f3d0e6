/**
 * These are the services of a test. They answer by a script, and a barrier with a ledger of effects stands behind
 * them.
 */
import { type BranchAnswer, type BranchCall, type BranchCaller, NOT_SENT } from '@counterstep/core'
import type { Op } from '@counterstep/protocol'
import type { Gate } from './gate.ts'

/** `lost`: the call took effect, but its answer did not come back. */
export type Answer = 'success' | 'failure' | 'ongoing' | 'unknown' | 'lost' | BranchAnswer | Deferred

export interface LoggedCall {
  readonly node: string
  readonly at: number
  readonly gid: string
  readonly branchId: string
  readonly op: Op
  readonly attempt: number
  readonly epoch: number
  endedAt?: number
}

/** An answer that the test gives at a time of its choice. */
export class Deferred {
  readonly promise: Promise<Answer>
  answer: (answer: Answer) => void = () => undefined

  constructor() {
    this.promise = new Promise((resolve) => {
      this.answer = resolve
    })
  }
}

interface BarrierRow {
  action: boolean
  compensate: boolean
}

export class Participants {
  readonly calls: LoggedCall[] = []
  /** These are the effects as `gid/branch op`, in their order. */
  readonly effects: string[] = []
  /** The answer to a call that has no script. */
  otherwise: (call: BranchCall) => Answer | Promise<Answer> = () => 'success'
  /** It is told when a call arrives. */
  onArrival: (call: BranchCall) => void = () => undefined
  /** Calls wait here for a connection. */
  connection: Gate | undefined
  inFlight = 0
  inFlightMost = 0
  readonly #scripts = new Map<string, Answer[]>()
  readonly #barrier = new Map<string, BarrierRow>()
  readonly #now: () => number

  constructor(now: () => number) {
    this.#now = now
  }

  /** Sets the next answers of this branch's op. Each is used once. */
  script(gid: string, branch: string, op: Op, ...answers: readonly Answer[]): void {
    const key = `${gid}/${branch} ${op}`
    this.#scripts.set(key, [...(this.#scripts.get(key) ?? []), ...answers])
  }

  defer(gid: string, branch: string, op: Op): Deferred {
    const deferred = new Deferred()
    this.script(gid, branch, op, deferred)
    return deferred
  }

  /** Lists the calls of one transaction as `01 action`, `01 compensate`, … */
  listCalls(gid: string): readonly string[] {
    return this.calls.flatMap((call) => (call.gid === gid ? [`${call.branchId} ${call.op}`] : []))
  }

  listEffects(gid: string): readonly string[] {
    return this.effects.flatMap((effect) =>
      effect.startsWith(`${gid}/`) ? [effect.slice(gid.length + 1)] : [],
    )
  }

  caller(node: string, isStopped: () => Gate | undefined): BranchCaller {
    return {
      call: async (call) => {
        await isStopped()?.pass()
        if (this.connection !== undefined) await this.connection.pass()
        if (call.mayBegin?.() === false) return NOT_SENT
        const answer = await this.#call(call, node)
        await isStopped()?.pass()
        return answer
      },
      close: async () => undefined,
    }
  }

  async #call(call: BranchCall, node: string): Promise<BranchAnswer> {
    const { gid, branchId, op, attempt, epoch } = call
    const logged: LoggedCall = { node, at: this.#now(), gid, branchId, op, attempt, epoch }
    this.calls.push(logged)
    this.inFlightMost = Math.max(this.inFlightMost, ++this.inFlight)
    this.onArrival(call)
    const scripted = this.#scripts.get(`${gid}/${branchId} ${op}`)?.shift() ?? this.otherwise(call)
    let answer = await scripted
    while (answer instanceof Deferred) answer = await answer.promise
    this.inFlight--
    logged.endedAt = this.#now()
    return this.#behindBarrier(call, answer)
  }

  #behindBarrier(call: BranchCall, answer: Exclude<Answer, Deferred>): BranchAnswer {
    const plain = typeof answer === 'string' ? { result: answer === 'lost' ? 'success' : answer } : answer
    if (plain.result !== 'success') return plain as BranchAnswer
    const key = `${call.gid}/${call.branchId}`
    const row = this.#barrier.get(key) ?? { action: false, compensate: false }
    this.#barrier.set(key, row)
    if (call.op === 'action' && row.compensate) return { result: 'failure', statusCode: 409 }
    const hasEffect = call.op === 'action' ? !row.action : !row.compensate && row.action
    if (hasEffect) this.effects.push(`${key} ${call.op}`)
    row[call.op === 'action' ? 'action' : 'compensate'] = true
    return answer === 'lost'
      ? { result: 'unknown', error: 'reset' }
      : { statusCode: 200, ...plain, result: 'success' }
  }
}
