import type { Harness } from '../harness/harness.ts'
import { dtmJob, readDtmStatus } from '../scenarios/dtm/dtm-job.ts'
import { buildDtm, DTM_VERSION, defaultDtmBuild } from '../scenarios/dtm/peer/build-dtm.ts'
import { type DtmStore, openMysqlForDtm, openRedisForDtm } from '../scenarios/dtm/peer/open-dtm-store.ts'
import { startDtm } from '../scenarios/dtm/peer/start-dtm.ts'
import { type EngineKind, toWords } from './engine.ts'

/** DTM itself on each store that it shares with Counterstep, and on its embedded one. */
export const DTM = {
  mariadb: onStore('mariadb', 'MariaDB', (harness) => openMysqlForDtm(harness, 'mariadb')),
  redisAlways: onStore('redis-always', 'Redis `always`', (harness) => openRedisForDtm(harness, 'always')),
  redisEverySecond: onStore('redis-everysec', 'Redis `everysec`', (harness) =>
    openRedisForDtm(harness, 'everysec'),
  ),
  boltdb: onStore('boltdb', 'boltdb', () => Promise.resolve({ settings: { Driver: 'boltdb' } })),
} as const

function onStore(
  store: string,
  storeTitle: string,
  openStore: (harness: Harness) => Promise<DtmStore>,
): EngineKind {
  const name = `dtm-${store}`
  return {
    name,
    title: `DTM ${DTM_VERSION}, ${storeTitle}`,
    isPeer: true,
    note: 'a saga over its HTTP API with `wait_result`; on MySQL it writes the answers of branches late and in batches, on the others each',
    async open({ harness, settings, progress }, branchUrl) {
      progress.show(`building dtm ${DTM_VERSION}, which takes minutes for the first time`)
      const program = await buildDtm(defaultDtmBuild(harness))
      const opened = await openStore(harness)
      const { url, workers, settings: own } = await startDtm(harness, program, opened, name)
      const software = opened.host?.software
      const place =
        software === undefined
          ? 'in a file of its own, of which it tells no settings'
          : `on ${software.version} (${toWords(software.settings)})`
      return {
        processes: workers.slice(0, 1),
        database: workers.slice(1),
        facts: `built from the Go module proxy; its defaults except for ports and LogLevel (${toWords(own)}), ${place}`,
        toJob: ({ connections, length, unique }) =>
          dtmJob(url, branchUrl, settings.branches, unique, connections, length),
        async audit({ gids }) {
          for (const gid of gids) {
            const status = await readDtmStatus(url, gid)
            if (status !== 'succeed') throw new Error(`${name}: ${gid} is ${status ?? 'not known'}`)
          }
          return { asked: gids.length }
        },
      }
    },
  }
}
