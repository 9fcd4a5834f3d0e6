import { type Clock, RENEW_MAX, type Run, type Store, StoreUnavailableError } from '@counterstep/core'
import type { EngineObserver } from './observer.ts'
import type { Runner } from './runner.ts'

/**
 * Each third of a lease: every run, so that its node learns within that time of a command that another node gave.
 * What ends sooner than the next look is in none.
 */
export class Renewal {
  readonly #store: Store
  readonly #runner: Runner
  readonly #clock: Clock
  readonly #observer: EngineObserver
  readonly #leaseMs: number
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

  /** After an outage or a pause our own leases look like a dead node's: they are renewed before anything is claimed. */
  renewExpired(): Promise<void> {
    const now = this.#clock.now()
    return this.#renewAmong(this.#runner.runs().filter((run) => run.leaseUntil <= now))
  }

  async #renewAll(): Promise<void> {
    try {
      await this.#renewAmong(this.#runner.runs())
    } catch (error: unknown) {
      // Nothing is lost by it: without a renewal no new call starts, and the next look asks again.
      const level = error instanceof StoreUnavailableError ? 'warn' : 'error'
      this.#observer.event({ level, name: 'renewal-failed', error })
    }
    this.start()
  }

  /** All at once: leases that cannot be renewed do not keep the others from it. */
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
      this.#runner.tell(gid, tokens.get(gid) ?? '', { type: 'renewed', grant, version })
    for (const gid of lost) this.#runner.tell(gid, tokens.get(gid) ?? '', { type: 'lease-lost' })
  }
}
