/** What clients are told, against the store and against what they were told before. */
import { type Gid, isFinalStatus, type Status } from '@counterstep/protocol'
import type { SimStore } from '../world/sim-store.ts'
import type { World } from '../world/world.ts'
import type { Auditor } from './auditor.ts'

export class ClientAudit {
  readonly #world: World
  readonly #auditor: Auditor
  #store: SimStore | undefined

  constructor(world: World, auditor: Auditor) {
    this.#world = world
    this.#auditor = auditor
  }

  watch(store: SimStore): void {
    this.#store = store
  }

  /** A node is about to answer. */
  told(gid: Gid, status: Status): void {
    const row = this.#store?.read(gid)
    if (row === undefined) {
      this.#auditor.report('I1', gid, `told ${status}, but the store has no such row`)
      return
    }
    if (isFinalStatus(status) && row.status !== status)
      this.#auditor.report('I19', gid, `told ${status}, but the store has ${row.status}`)
    const log = this.#auditor.log(gid)
    if ('turn' in log) this.#auditor.prepared.told(gid, status, log)
  }

  /** A command that came at `askedAt` is answered, by what is durable: that it was given to a run that is stale is no excuse. */
  commanded(gid: Gid, status: Status, askedAt: number): void {
    const { finalSeen, finalSeenAt } = this.#auditor.log(gid)
    if (finalSeen !== undefined && askedAt >= finalSeenAt && status !== finalSeen)
      this.#auditor.report('I18', gid, `seen ${finalSeen}, then a command was told ${status}`)
  }

  /** An answer to what the client asked at `askedAt` has come. */
  seen(gid: Gid, status: Status, askedAt: number): void {
    const log = this.#auditor.log(gid)
    const { counters, skewMs } = this.#world
    if (log.finalSeen !== undefined && askedAt >= log.finalSeenAt && status !== log.finalSeen) {
      // A node whose clock is slow believes in its lease after another has ended what it runs.
      const mayBeStale = !isFinalStatus(status) && (log.isEndedByCommand || skewMs > 0)
      if (mayBeStale) counters.staleViews++
      else this.#auditor.report('I18', gid, `seen ${log.finalSeen}, then ${status}`)
    }
    if (log.abortSeenAt !== undefined && askedAt >= log.abortSeenAt) {
      if (status === 'succeeded') this.#auditor.report('I18', gid, 'seen aborting, then succeeded')
      // Another node's abort, of which the runner hears with its next renewal.
      if (status === 'submitted' || status === 'prepared') counters.staleViews++
    }
    if (status === 'aborting') log.abortSeenAt ??= this.#world.now
    if (log.finalSeen !== undefined || !isFinalStatus(status)) return
    log.finalSeen = status
    log.finalSeenAt = this.#world.now
  }
}
