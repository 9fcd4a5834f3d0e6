/** L4: how often a branch is called. What one runner asks again has been answered, and the back-off lies between. */
import { type CallKey, findOp, getBranchTargets, type Run } from '@counterstep/core'
import type { Auditor } from './auditor.ts'

/** Of the invariant, not of the core: after so many failures never more than a call a second. */
const SLOW_AFTER_WAITS = 5
const HOT_MS = 1_000
/** The least wait doubles with so many failures more, up to so many times. */
const DOUBLES_AFTER = 5
const HOT_FACTOR_MAX = 60
/** The core's instants are whole milliseconds. */
const ROUNDING_MS = 2

interface Last {
  readonly manualRetries: number
  /**
   * Of the answer, by the store's clock as the runner takes it to be: a runner that learns that it was wrong about that
   * clock is early or late by as much.
   */
  readonly answeredAt: number | undefined
}

export class CallPace {
  readonly #auditor: Auditor
  readonly #last = new WeakMap<object, Map<string, Last>>()

  constructor(auditor: Auditor) {
    this.#auditor = auditor
  }

  /** `runner` stands for itself; `nodeNow` is by its own clock. */
  answered({ transaction, storeOffsetMs }: Run, call: CallKey, runner: object, nodeNow: number): void {
    const answeredAt = nodeNow + storeOffsetMs
    this.#callsOf(runner).set(keyOf(call), { manualRetries: transaction.manualRetries, answeredAt })
  }

  called({ transaction, storeOffsetMs }: Run, call: CallKey, runner: object, nodeNow: number): void {
    const calls = this.#callsOf(runner)
    const last = calls.get(keyOf(call))
    const { definition, gid, manualRetries } = transaction
    calls.set(keyOf(call), { manualRetries, answeredAt: undefined })
    // Where an operator has asked for it, it is called at once.
    if (last === undefined || last.manualRetries !== manualRetries) return
    const what = `${call.op} ${call.branch} was called again`
    if (last.answeredAt === undefined) {
      this.#auditor.report('L4', gid, `${what} without an answer`)
      return
    }
    const { initialMs, capMs } = getBranchTargets(transaction)[call.branch]?.retry ?? definition.retry
    const { waits = 0, failures = 0 } = findOp(transaction, call) ?? {}
    const leastMs = waits >= SLOW_AFTER_WAITS ? hotMs(failures) : Math.min(initialMs, capMs)
    const passedMs = nodeNow + storeOffsetMs - last.answeredAt
    if (passedMs < leastMs - ROUNDING_MS)
      this.#auditor.report('L4', gid, `${what} after ${passedMs} of ${leastMs} ms`)
  }

  #callsOf(runner: object): Map<string, Last> {
    const calls = this.#last.get(runner) ?? new Map<string, Last>()
    this.#last.set(runner, calls)
    return calls
  }
}

function hotMs(failures: number): number {
  return HOT_MS * Math.min(HOT_FACTOR_MAX, 2 ** Math.max(0, Math.floor(failures / DOUBLES_AFTER) - 1))
}

function keyOf({ branch, op }: CallKey): string {
  return `${branch} ${op}`
}
