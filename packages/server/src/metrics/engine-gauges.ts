import type { Store, StoreStats } from '@counterstep/core'
import type { EngineApi } from '@counterstep/engine'
import { UNFINISHED_STATUSES } from '@counterstep/protocol'
import { Gauge, type Registry } from 'prom-client'

/**
 * The figures of the store are read again after this time only: scrapes may be frequent, and counting rows costs time.
 */
const STATS_AGE_MAX_MS = 5_000

export function registerEngineGauges(registry: Registry, engine: EngineApi): void {
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read())
      },
    })
  gauge('counterstep_ready', '1 while new work is taken.', () => (engine.health().ready ? 1 : 0))
  gauge(
    'counterstep_transactions_in_flight',
    'Transactions in flight on this node.',
    () => engine.health().inFlight,
  )
  gauge(
    'counterstep_transactions_in_flight_max',
    'The bound on transactions in flight.',
    () => engine.health().inFlightMax,
  )
  gauge(
    'counterstep_targets_at_share',
    'Targets that hold as many transactions or calls as they may. The log names them.',
    () => engine.health().targetsAtShare,
  )
}

/** Adds the figures of the store. While it does not answer they are absent, and `counterstep_store_stats_up` is 0. */
export function registerStoreGauges(registry: Registry, store: Pick<Store, 'stats'>): void {
  const read = cacheStats(store)
  const gauge = (name: string, help: string, set: (gauge: Gauge, stats: StoreStats) => void) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        this.reset()
        const stats = await read()
        if (stats === undefined) this.remove()
        else set(this, stats)
      },
    })
  gauge(
    'counterstep_store_attention',
    'Unfinished transactions that an operator should look at.',
    (gauge, stats) => gauge.set(stats.attention),
  )
  gauge('counterstep_store_oldest_due_age_seconds', 'How late the oldest due row is.', (gauge, stats) =>
    gauge.set(Math.max(0, stats.now - (stats.oldestDueAt ?? stats.now)) / 1000),
  )
  new Gauge({
    name: 'counterstep_store_stats_up',
    help: '1 while the store answers for its figures.',
    registers: [registry],
    async collect() {
      this.set((await read()) === undefined ? 0 : 1)
    },
  })
  new Gauge({
    name: 'counterstep_store_unfinished',
    help: 'Unfinished transactions.',
    labelNames: ['status'],
    registers: [registry],
    async collect() {
      this.reset()
      const stats = await read()
      if (stats === undefined) return
      for (const status of UNFINISHED_STATUSES) this.set({ status }, stats.unfinished[status])
    },
  })
}

/** Calls the store at most once in 5 s, also after a failure, and only when no other call is under way. */
function cacheStats(store: Pick<Store, 'stats'>): () => Promise<StoreStats | undefined> {
  let cached: Promise<StoreStats | undefined> | undefined
  let readAt = 0
  return function readStats() {
    const now = performance.now()
    if (cached === undefined || now - readAt >= STATS_AGE_MAX_MS) {
      readAt = now
      // A store that does not answer is shown by the gauge, and reported by the engine.
      cached = store.stats().catch(() => undefined)
    }
    return cached
  }
}
