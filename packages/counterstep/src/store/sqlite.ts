import '../check-node.ts'

export {
  openSqliteStore,
  type SqliteCounters,
  type SqliteOptions,
  type SqliteStore,
} from '@counterstep/store-sqlite'
