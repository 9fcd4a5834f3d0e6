import type { StoreStats } from '@counterstep/core'
import type { EngineApi } from '@counterstep/engine'
import { UNFINISHED_STATUSES } from '@counterstep/protocol'
import { type Aggregator, Gauge, type Registry } from 'prom-client'

export function registerEngineGauges(registry: Registry, engine: EngineApi): void {
  const gauge = (name: string, help: string, read: () => number, aggregator: Aggregator = 'sum') =>
    new Gauge({
      name,
      help,
      aggregator,
      registers: [registry],
      collect() {
        this.set(read())
      },
    })
  gauge('counterstep_ready', '1 while new work is taken.', () => (engine.health().ready ? 1 : 0), 'min')
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
export function registerStoreGauges(registry: Registry, engine: Pick<EngineApi, 'readStats'>): void {
  const read = () => engine.readStats()
  const gauge = (name: string, help: string, set: (gauge: Gauge, stats: StoreStats) => void) =>
    new Gauge({
      name,
      help,
      aggregator: 'max',
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
    aggregator: 'max',
    registers: [registry],
    async collect() {
      this.set((await read()) === undefined ? 0 : 1)
    },
  })
  new Gauge({
    name: 'counterstep_store_unfinished',
    help: 'Unfinished transactions.',
    aggregator: 'max',
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
