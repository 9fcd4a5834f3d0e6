/** Checks L4, the pace of calls to a branch. A run makes a call again only after an answer and its back-off. */
import { type CallKey, findOp, getBranchTargets, type Run, type Transaction } from '@counterstep/core'
import type { AuditLog } from './audit-log.ts'

/**
 * These limits belong to the invariant, not to the core. After this many
 * waits there is never more than one call a second.
 */
const SLOW_AFTER_WAITS = 5
const SLOW_MS = 1_000
/** The least wait doubles each time this many failures are added, up to SLOW_FACTOR_MAX times its first length. */
const DOUBLES_AFTER = 5
const SLOW_FACTOR_MAX = 60
/** The core's instants are whole milliseconds. */
const ROUNDING_MS = 2

interface Last {
  /** The commands of operators until then. Each may hurry a call. */
  readonly commands: number
  /**
   * When the answer came, by the store's clock as the run assumed it. A run that learns that its assumption was wrong is
   * early or late by the same time.
   */
  readonly answeredAt: number | undefined
}

export class CallPace {
  readonly #audit: AuditLog
  readonly #last = new WeakMap<object, Map<string, Last>>()

  constructor(audit: AuditLog) {
    this.#audit = audit
  }

  /** Notes an answer. `runner` is compared by identity, and `nodeNow` is by the node's own clock. */
  noteAnswer({ transaction, storeOffsetMs }: Run, call: CallKey, runner: object, nodeNow: number): void {
    const answeredAt = nodeNow + storeOffsetMs
    this.#getCalls(runner).set(toKey(call), { commands: countCommands(transaction), answeredAt })
  }

  checkCall({ transaction, storeOffsetMs }: Run, call: CallKey, runner: object, nodeNow: number): void {
    const calls = this.#getCalls(runner)
    const last = calls.get(toKey(call))
    const { definition, gid } = transaction
    const commands = countCommands(transaction)
    calls.set(toKey(call), { commands, answeredAt: undefined })
    // After an operator's retry or edit it is called at once.
    if (last === undefined || last.commands !== commands) return
    const what = `${call.op} ${call.branch} was called again`
    if (last.answeredAt === undefined) {
      this.#audit.report('L4', gid, `${what} without an answer`)
      return
    }
    const { initialMs, capMs } = getBranchTargets(transaction)[call.branch]?.retry ?? definition.retry
    const { waits = 0, failures = 0 } = findOp(transaction, call) ?? {}
    const leastMs = waits >= SLOW_AFTER_WAITS ? findLeastWaitMs(failures) : Math.min(initialMs, capMs)
    const passedMs = nodeNow + storeOffsetMs - last.answeredAt
    if (passedMs < leastMs - ROUNDING_MS)
      this.#audit.report('L4', gid, `${what} after ${passedMs} of ${leastMs} ms`)
  }

  #getCalls(runner: object): Map<string, Last> {
    const calls = this.#last.get(runner) ?? new Map<string, Last>()
    this.#last.set(runner, calls)
    return calls
  }
}

function countCommands({ manualRetries, trail = [] }: Transaction): number {
  return trail.reduce((sum, { count = 1 }) => sum + count, manualRetries)
}

function findLeastWaitMs(failures: number): number {
  return SLOW_MS * Math.min(SLOW_FACTOR_MAX, 2 ** Math.max(0, Math.floor(failures / DOUBLES_AFTER) - 1))
}

function toKey({ branch, op }: CallKey): string {
  return `${branch} ${op}`
}
