import '../check-node.ts'

export {
  type Counters,
  type MigrationReport,
  type MysqlConnection,
  type MysqlOptions,
  type MysqlStore,
  migrateMysql,
  openMysqlStore,
  type TlsChoice,
  type TlsOptions,
} from '@counterstep/store-mysql'
