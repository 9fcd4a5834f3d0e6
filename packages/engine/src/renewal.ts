import { type Clock, RENEW_MAX, type Run, type Store, StoreUnavailableError } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import type { EngineObserver } from './observer.ts'
import type { Runner } from './runner.ts'

/**
 * Renews the lease of every run each third of a lease, so that the node also learns within that time about commands that
 * other nodes gave. A run that ends before the next renewal is never renewed.
 */
export class Renewal {
  readonly #store: Store
  readonly #runner: Runner
  readonly #clock: Clock
  readonly #observer: EngineObserver
  readonly #leaseMs: number
  /** Rows that a command has changed, until they are renewed. */
  readonly #commanded = new Set<Gid>()
  #cancel: () => void = () => undefined
  #stopped = false

  constructor(store: Store, runner: Runner, clock: Clock, observer: EngineObserver, leaseMs: number) {
    this.#store = store
    this.#runner = runner
    this.#clock = clock
    this.#observer = observer
    this.#leaseMs = leaseMs
  }

  start(): void {
    if (!this.#stopped) this.#cancel = this.#clock.after(this.#leaseMs / 3, () => void this.#renewAll())
  }

  stop(): void {
    this.#stopped = true
    this.#cancel()
  }

  /**
   * Renews expired leases. After an outage or a pause our own rows look like
   * a dead node's, so this comes before every claim.
   */
  renewExpired(): Promise<void> {
    const now = this.#clock.now()
    return this.#renewAmong(this.#runner.runs().filter((run) => run.leaseUntil <= now))
  }

  /**
   * Renews the lease of this row if its run is here, and so learns what a command has made of it. All rows that are named in one turn
   * of the event loop are renewed together.
   */
  renewCommanded(gid: Gid): void {
    if (this.#stopped || this.#runner.get(gid) === undefined) return
    this.#commanded.add(gid)
    if (this.#commanded.size > 1) return
    this.#clock.after(0, () => {
      const runs = [...this.#commanded].flatMap((commanded) => this.#runner.get(commanded) ?? [])
      this.#commanded.clear()
      this.#renewAmong(runs).catch((error: unknown) => this.#tellFailure(error))
    })
  }

  async #renewAll(): Promise<void> {
    try {
      await this.#renewAmong(this.#runner.runs())
    } catch (error: unknown) {
      this.#tellFailure(error)
    }
    this.start()
  }

  /** Nothing is lost: without a renewal no new call starts, and the next renewal tries again. */
  #tellFailure(error: unknown): void {
    const level = error instanceof StoreUnavailableError ? 'warn' : 'error'
    this.#observer.event({ level, name: 'renewal-failed', error })
  }

  /** Renews in parallel, so that a failed renewal does not stop the others. */
  async #renewAmong(runs: readonly Run[]): Promise<void> {
    const renewals: Promise<void>[] = []
    for (let from = 0; from < runs.length; from += RENEW_MAX) {
      renewals.push(this.#renew(runs.slice(from, from + RENEW_MAX)))
    }
    for (const renewal of await Promise.allSettled(renewals)) {
      if (renewal.status === 'rejected') throw renewal.reason
    }
  }

  async #renew(runs: readonly Run[]): Promise<void> {
    const tokens = new Map(runs.map((run) => [run.transaction.gid, run.token]))
    const leases = runs.map(({ transaction, token }) => ({ gid: transaction.gid, token }))
    const sentAt = this.#clock.now()
    const { now: storeNow, renewed, lost } = await this.#store.renew(leases, this.#leaseMs)
    const grant = { sentAt, now: this.#clock.now(), storeNow }
    for (const { gid, version } of renewed)
      this.#runner.applyEvent(gid, tokens.get(gid) ?? '', { type: 'renewed', grant, version })
    for (const gid of lost) this.#runner.applyEvent(gid, tokens.get(gid) ?? '', { type: 'lease-lost' })
  }
}
