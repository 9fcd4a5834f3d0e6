export type { Database, DriverModule, DriverName, Row, Statement } from './driver.ts'
export type { SqliteOptions } from './open-sqlite-store.ts'
export { openSqliteStore } from './open-sqlite-store.ts'
export type { SqliteCounters, SqliteStore } from './sqlite-store.ts'
