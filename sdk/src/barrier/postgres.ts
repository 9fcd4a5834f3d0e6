// biome-ignore-all lint/performance/noBarrelFile: package.json names this file as an entry, which lists what it exports.

export type { Barrier, BarrierOptions, BarrierOutcome } from './barrier.ts'
export type { PooledBarrierOptions } from './deadline.ts'
export type { LocalOutcome, MessageBarrier, QueryPreparedOptions } from './message-barrier.ts'
export type { BarrierMigration } from './migration.ts'
export { postgresBarrier, postgresBarrierIn } from './postgres/postgres-barrier.ts'
export { checkBarrier } from './postgres/postgres-check.ts'
export type {
  PostgresClient,
  PostgresPool,
  PostgresPoolClient,
  PostgresResult,
  PostgresStatement,
} from './postgres/postgres-client.ts'
export { migrateBarrier, postgresBarrierMigrations, purgeBarrier } from './postgres/postgres-table.ts'
export type { PurgeOptions } from './purge-options.ts'
