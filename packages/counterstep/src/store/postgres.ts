import '../check-node.ts'

export {
  type Counters,
  type MigrationReport,
  migratePostgres,
  openPostgresStore,
  type PostgresConnection,
  type PostgresOptions,
  type PostgresStore,
  type TlsChoice,
  type TlsOptions,
} from '@counterstep/store-postgres'
