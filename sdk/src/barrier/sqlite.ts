// biome-ignore-all lint/performance/noBarrelFile: package.json names this file as an entry, which lists what it exports.

export type { Barrier, BarrierOptions, BarrierOutcome } from './barrier.ts'
export type { LocalOutcome, MessageBarrier, QueryPreparedOptions } from './message-barrier.ts'
export type { BarrierMigration } from './migration.ts'
export type { PurgeOptions } from './purge-options.ts'
export type { SqliteBarrier } from './sqlite/sqlite-barrier.ts'
export { sqliteBarrier } from './sqlite/sqlite-barrier.ts'
export { checkBarrier } from './sqlite/sqlite-check.ts'
export type { SqliteDatabase, SqliteStatement } from './sqlite/sqlite-database.ts'
export { migrateBarrier, purgeBarrier, sqliteBarrierMigrations } from './sqlite/sqlite-table.ts'
