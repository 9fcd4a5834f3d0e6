import { checkEqual } from '../check-counts.ts'
import { databaseWorker } from '../harness/database-worker.ts'
import { processPath } from '../harness/paths.ts'
import { toDatabaseUrl } from '../stores/mysql-host.ts'
import { openOwnMysql } from '../stores/open-own-mysql.ts'
import { type EngineKind, toWords } from './engine.ts'
import { sagaRequestJob } from './saga-request.ts'

const NAME = 'by-hand-mariadb'
const DATABASE = 'by_hand'
const TABLE = `CREATE TABLE saga (
  gid varchar(128) NOT NULL PRIMARY KEY,
  status varchar(16) NOT NULL,
  definition mediumtext NOT NULL,
  progress mediumtext NOT NULL,
  created_at datetime(3) NOT NULL,
  finished_at datetime(3)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4`

export const BY_HAND_ENGINE: EngineKind = {
  name: NAME,
  title: 'by hand, MariaDB',
  isPeer: false,
  note: 'a plain program of fastify, undici and mysql2 with a pool of 20: an INSERT of the branches before the calls and an UPDATE with the calls after them; no recovery and no compensation, so it does less than any engine',
  async open({ harness, settings }, branchUrl) {
    const { host, url, link } = await openOwnMysql(harness, 'mariadb')
    await link.run(`CREATE DATABASE ${DATABASE}`)
    await link.run(`USE ${DATABASE}`)
    await link.run(TABLE)
    const program = harness.start({
      name: 'by hand',
      script: processPath('by-hand'),
      environment: { NODE_ENV: 'production', SAGA_DATABASE: toDatabaseUrl(url, DATABASE) },
    })
    const programUrl = await program.url()
    const { version, settings: own } = host.software
    return {
      processes: [program],
      database: databaseWorker(host),
      facts: `on ${version} (${toWords(own)})`,
      toJob: (load) => sagaRequestJob(`${programUrl}/sagas`, branchUrl, settings.branches, load),
      async audit({ answers }) {
        const [row] = await link.rows("SELECT COUNT(*) AS stored FROM saga WHERE status = 'succeeded'")
        const stored = Number(row?.stored)
        checkEqual({ [`${NAME}: answers`]: answers, stored })
        return { stored }
      },
    }
  },
}
