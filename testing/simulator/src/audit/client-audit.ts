/** Checks the answers to clients against the store and against earlier answers. */
import { type Gid, isFinalStatus, type Status } from '@counterstep/protocol'
import type { SimStore } from '../world/sim-store.ts'
import type { World } from '../world/world.ts'
import type { AuditLog } from './audit-log.ts'
import type { PreparedAudit } from './prepared-audit.ts'

export class ClientAudit {
  readonly #world: World
  readonly #audit: AuditLog
  readonly #prepared: PreparedAudit
  #store: SimStore | undefined

  constructor(world: World, audit: AuditLog, prepared: PreparedAudit) {
    this.#world = world
    this.#audit = audit
    this.#prepared = prepared
  }

  watch(store: SimStore): void {
    this.#store = store
  }

  /** Checks an answer that a node is about to give. */
  checkAnswer(gid: Gid, status: Status): void {
    const row = this.#store?.read(gid)
    if (row === undefined) {
      this.#audit.report('I1', gid, `told ${status}, but the store has no such row`)
      return
    }
    if (isFinalStatus(status) && row.status !== status)
      this.#audit.report('I19', gid, `told ${status}, but the store has ${row.status}`)
    const log = this.#audit.log(gid)
    if ('decision' in log) this.#prepared.checkAnswer(gid, status, log)
  }

  /**
   * Checks the answer to a command that came at `askedAt`. It must follow the
   * durable state, even if the command was given to a stale run.
   */
  checkCommandAnswer(gid: Gid, status: Status, askedAt: number): void {
    const { finalSeen, finalSeenAt } = this.#audit.log(gid)
    if (finalSeen !== undefined && askedAt >= finalSeenAt && status !== finalSeen)
      this.#audit.report('I18', gid, `seen ${finalSeen}, then a command was told ${status}`)
  }

  /** Checks an answer that has reached a client, which asked at `askedAt`. */
  checkSeen(gid: Gid, status: Status, askedAt: number): void {
    const log = this.#audit.log(gid)
    const { counters, skewMs } = this.#world
    if (log.finalSeen !== undefined && askedAt >= log.finalSeenAt && status !== log.finalSeen) {
      // A node whose clock is slow may assume a valid lease after another node has ended the transaction.
      const mayBeStale = !isFinalStatus(status) && (log.isEndedByCommand || skewMs > 0)
      if (mayBeStale) counters.staleViews++
      else this.#audit.report('I18', gid, `seen ${log.finalSeen}, then ${status}`)
    }
    if (log.abortSeenAt !== undefined && askedAt >= log.abortSeenAt) {
      if (status === 'succeeded') this.#audit.report('I18', gid, 'seen aborting, then succeeded')
      // The abort was given on another node, and the owner learns of it with its next renewal.
      if (status === 'submitted' || status === 'prepared') counters.staleViews++
    }
    if (status === 'aborting') log.abortSeenAt ??= this.#world.now
    if (log.finalSeen !== undefined || !isFinalStatus(status)) return
    log.finalSeen = status
    log.finalSeenAt = this.#world.now
  }
}
