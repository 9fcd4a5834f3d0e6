// biome-ignore-all lint/performance/noBarrelFile: package.json names this file as an entry, which lists what it exports.

export type { Barrier, BarrierOptions, BarrierOutcome } from './barrier.ts'
export type { PooledBarrierOptions } from './deadline.ts'
export type { LocalOutcome, MessageBarrier, QueryPreparedOptions } from './message-barrier.ts'
export type { BarrierMigration } from './migration.ts'
export { mysqlBarrier, mysqlBarrierIn } from './mysql/mysql-barrier.ts'
export { checkBarrier } from './mysql/mysql-check.ts'
export type {
  MysqlConnection,
  MysqlPool,
  MysqlPoolConnection,
  MysqlStatement,
} from './mysql/mysql-connection.ts'
export { migrateBarrier, mysqlBarrierMigrations, purgeBarrier } from './mysql/mysql-table.ts'
export type { PurgeOptions } from './purge-options.ts'
