export { type Environment, readEnvironment } from './environment.ts'
export { ServerFailedError, ServerMissingError } from './errors.ts'
export { freePort } from './free-port.ts'
export { type Brought, type BroughtName, bringProgram, findProgram } from './install/bring-program.ts'
export { fillCacheFolder } from './install/fill-cache-folder.ts'
export { findBinaries } from './install/find-binaries.ts'
export { type DebianPackage, installPackages } from './install/install-packages.ts'
export { type Machine, NOT_ALLOWED, thisMachine } from './install/machine.ts'
export { exclusively } from './processes/exclusively.ts'
export { type KeptProcess, keptFolder, startKept } from './processes/kept-process.ts'
export type { ProxyCounts } from './proxy/proxied-connection.ts'
export type { ProxyFault, RequestTrigger } from './proxy/proxy-fault.ts'
export { startTcpProxy, type TcpProxy } from './proxy/tcp-proxy.ts'
export {
  isHttpPost,
  isMysqlCommit,
  isPostgresCommit,
  isPostgresWrite,
  isRedisScript,
  matchPostgres,
} from './proxy/wire-triggers.ts'
export { type ElasticmqServer, startElasticmq } from './servers/elasticmq.ts'
export { HangingLog, startWithHangingLog } from './servers/hanging-log.ts'
export { startMariadb } from './servers/mariadb.ts'
export { startMysql } from './servers/mysql.ts'
export { type PgbouncerOptions, type PgbouncerServer, startPgbouncer } from './servers/pgbouncer.ts'
export { startPostgres } from './servers/postgres.ts'
export type { PostgresServer, PostgresServerOptions } from './servers/postgres-server.ts'
export { startPostgres18 } from './servers/postgres18.ts'
export { startRedis } from './servers/redis.ts'
export { type RedisCluster, startRedisCluster } from './servers/redis-cluster.ts'
export type { RedisServer, RedisServerOptions } from './servers/redis-server.ts'
export type { ServerProcess } from './servers/server-process.ts'
export type { SqlServer, SqlServerOptions } from './servers/sql-server.ts'
