/** Checks recorded workflows while a world runs: I42. */
import type { RecordedTransaction, Run, StoredTransaction } from '@counterstep/core'
import type { Status } from '@counterstep/protocol'
import { readRecord } from '../world/read-record.ts'
import type { World } from '../world/world.ts'
import type { AuditLog } from './audit-log.ts'
import type { RecordedLog } from './prepared-log.ts'

export class RecordedAudit {
  readonly #world: World
  readonly #audit: AuditLog

  constructor(world: World, audit: AuditLog) {
    this.#world = world
    this.#audit = audit
  }

  /** Checks a durable write. */
  checkWrite(before: StoredTransaction, row: StoredTransaction, log: RecordedLog): void {
    const [known, next] = [read(before), read(row)]
    const report = (text: string) => this.#audit.report('I42', row.gid, text)
    for (const record of known.records) {
      const kept = next.records.find(({ branchId, op }) => branchId === record.branchId && op === record.op)
      if (kept?.data !== record.data || kept.status !== record.status)
        report(`what its client reported of ${record.branchId} is gone or has changed`)
    }
    for (const { branchId } of next.records) {
      const askedAt = log.reportedAt.get(branchId) ?? before.updatedAt
      // The clock of the node that stored it may be behind that of the store, as after a pause of the process. One that does not own
      // the row may know no later time than that of the row before it.
      const knownAt = Math.min(askedAt - this.#world.lagMs, before.updatedAt)
      if (!log.knownAt.has(branchId)) log.knownAt.set(branchId, knownAt)
    }
    if (known.status !== 'prepared' && getEnd(known) !== getEnd(next))
      report(`it ended by ${getEnd(known)}, and again by ${getEnd(next)}`)
    const isAsked = log.endsAsked.some(
      (end) =>
        end.status === next.status && getEnd(next) === (end.status === 'failed' ? end.reason : end.result),
    )
    if ((next.status === 'succeeded' || next.status === 'failed') && !isAsked)
      report(`it is ${next.status}, and its client has not said so`)
  }

  checkCall({ transaction }: Run, log: RecordedLog, isZombie: boolean): void {
    if (transaction.kind !== 'recorded') return
    const { gid, createdAt, records, manualRetries, definition } = transaction
    // An end that came to another node is learned with the next renewal, and an owner whose clock is behind takes its lease for valid.
    if (log.isFinal && !log.isEndedByCommand && !isZombie)
      this.#audit.report('I42', gid, 'its client was called back after the end')
    // An operator may have asked for the callback.
    if (manualRetries > 0) return
    const times = records.map(({ branchId }) => log.knownAt.get(branchId) ?? createdAt)
    if (this.#world.isBefore(Math.max(createdAt, ...times) + definition.retry.initialMs))
      this.#audit.report('I42', gid, 'its client was called back soon after a sign of life')
  }

  /** Checks a final row at the end of a world. */
  checkEnd(row: StoredTransaction, { plan, acknowledged }: RecordedLog): void {
    const { gid, records, status } = read(row)
    const report = (text: string) => this.#audit.report('I42', gid, text)
    const reported = new Set<string>(records.map(({ branchId }) => branchId))
    for (const branchId of acknowledged)
      if (!reported.has(branchId)) report(`the report of ${branchId} was acknowledged, and is gone`)
    const ending: Status = plan.failsAt === undefined ? 'succeeded' : 'failed'
    const count = (plan.failsAt ?? plan.steps - 1) + 1
    if (status !== ending || records.length !== count)
      report(`${status} with ${records.length} reports, where ${ending} with ${count} was to come`)
  }
}

function read(row: StoredTransaction): RecordedTransaction {
  const recorded = readRecord(row)
  if (recorded.kind !== 'recorded') throw new TypeError(`${row.gid} is no recorded workflow`)
  return recorded
}

function getEnd(recorded: RecordedTransaction): string | undefined {
  return recorded.status === 'failed' ? recorded.abort.reason : recorded.result
}
