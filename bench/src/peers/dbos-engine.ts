import { checkEqual } from '../check-counts.ts'
import { databaseWorker } from '../harness/database-worker.ts'
import { processPath } from '../harness/paths.ts'
import { openOwnPostgresHost } from '../stores/open-own-postgres-host.ts'
import { countRows } from '../workflow/accounts.ts'
import { CONNECTIONS_MAX } from '../workflow/open-pool.ts'
import { type EngineKind, toWords } from './engine.ts'
import { installPinned, pinnedPlaces } from './pinned-packages.ts'
import { sagaRequestJob } from './saga-request.ts'

const NAME = 'dbos'

export const DBOS_ENGINE: EngineKind = {
  name: NAME,
  title: 'DBOS 5.3.0, PostgreSQL',
  isPeer: true,
  note: 'a library in the program that the callers ask, with fastify and undici; each step is recorded before the next one; the gid is the id of the workflow',
  async open({ harness, settings }, branchUrl) {
    const { folder, versions } = await installPinned(NAME, pinnedPlaces(harness))
    const { host } = await openOwnPostgresHost(harness)
    const { COUNTERSTEP_STORE: databaseUrl = '' } = (await host.newDatabase()).environment
    const program = harness.start({
      name: 'dbos program',
      script: processPath('dbos-saga'),
      args: [folder],
      environment: { NODE_ENV: 'production', SYSTEM_DATABASE: databaseUrl },
    })
    const url = await program.url()
    const { version, settings: own } = host.software
    return {
      processes: [program],
      database: databaseWorker(host),
      facts: `${versions}; its defaults except for a pool of ${CONNECTIONS_MAX} connections, no admin server and the log level, on ${version} (${toWords(own)})`,
      toJob: (load) => sagaRequestJob(`${url}/sagas`, branchUrl, settings.branches, load),
      async audit({ answers }) {
        const stored = await countRows(databaseUrl, "dbos.workflow_status WHERE status = 'SUCCESS'")
        checkEqual({ [`${NAME}: answers`]: answers, stored })
        return { stored }
      },
    }
  },
}
