import { checkEqual } from '../check-counts.ts'
import { countStored } from '../harness/count-stored.ts'
import { databaseWorker } from '../harness/database-worker.ts'
import type { Harness } from '../harness/harness.ts'
import { startServer } from '../harness/server.ts'
import { sagaJob } from '../scenarios/saga-job.ts'
import { openOwnMysql } from '../stores/open-own-mysql.ts'
import { openOwnPostgresHost } from '../stores/open-own-postgres-host.ts'
import { openOwnRedis } from '../stores/open-own-redis.ts'
import { sqliteHost } from '../stores/sqlite-host.ts'
import type { StoreHost } from '../stores/store-host.ts'
import { type EngineKind, toWords } from './engine.ts'

/** Counterstep's server with its defaults on each store. Each database server is private. */
export const COUNTERSTEP = {
  sqlite: onStore('sqlite', 'SQLite', ({ folder }) => Promise.resolve({ host: sqliteHost(folder) })),
  mariadb: onStore('mariadb', 'MariaDB', (harness) => openOwnMysql(harness, 'mariadb')),
  postgres: onStore('postgres', 'PostgreSQL', openOwnPostgresHost),
  redisAlways: onStore('redis-always', 'Redis `always`', (harness) => openOwnRedis(harness, 'always')),
  redisEverySecond: onStore('redis-everysec', 'Redis `everysec`', (harness) =>
    openOwnRedis(harness, 'everysec'),
  ),
} as const

function onStore(
  store: string,
  storeTitle: string,
  openHost: (harness: Harness) => Promise<{ readonly host: StoreHost }>,
): EngineKind {
  const name = `counterstep-${store}`
  return {
    name,
    title: `Counterstep, ${storeTitle}`,
    isPeer: false,
    note: 'two durable writes for a saga; the answer of a branch is not durable before the next call',
    async open({ harness, settings }, branchUrl) {
      const { host } = await openHost(harness)
      const server = await startServer(harness, await host.newDatabase(), settings)
      const { version, settings: own } = host.software
      const { durabilityClass, failover } = server.store
      return {
        processes: [server.child],
        database: databaseWorker(host),
        facts: `durability class ${durabilityClass}, failover ${failover}, on ${version} (${toWords(own)})`,
        toJob: ({ connections, length, unique }) => ({
          ...sagaJob(
            server.url,
            { branchUrl, branches: settings.branches, gid: unique },
            connections,
            length,
          ),
          unique,
        }),
        async audit({ answers }) {
          const stored = await countStored(server.url)
          checkEqual({ [`${name}: answers`]: answers, stored })
          return { stored }
        },
      }
    },
  }
}
