import { checkEqual } from '../../check-counts.ts'
import { processPath } from '../../harness/paths.ts'
import { auditAccounts, countRows, createAccounts } from '../accounts.ts'
import { peerJob } from '../transfer-jobs.ts'
import type { Peer } from './peer.ts'

const NAME = 'dbos'

export const dbos: Peer = {
  name: NAME,
  packages: 'dbos-datasource',
  note: 'a library in the program that the callers ask, so there is no server and no call; its records are in the same PostgreSQL, in a database of their own. A step is a transaction of its datasource, which commits the effect with a record of it, as the barrier does',
  async open({ harness, settings }, postgres, folder) {
    const url = await postgres.newDatabase(NAME)
    const systemUrl = await postgres.newDatabase(`${NAME}_system`)
    await createAccounts(url, settings.accounts)
    const app = harness.start({
      name: 'dbos app',
      script: processPath('dbos-app'),
      args: [folder, String(settings.accounts)],
      environment: { NODE_ENV: 'production', SERVICES_DATABASE: url, SYSTEM_DATABASE: systemUrl },
    })
    const job = peerJob(`${await app.url()}/transfers`, settings)
    return {
      plan: { name: NAME, job, workers: [app, postgres.worker] },
      async audit(transfers) {
        const stored = await countRows(systemUrl, "dbos.workflow_status WHERE status = 'SUCCESS'")
        checkEqual({ [`${NAME}: transfers`]: transfers, stored })
        const moves = await auditAccounts(NAME, url, { transfers, steps: settings.branches })
        const stepRows = await countRows(url, 'dbos.transaction_completion')
        checkEqual({ [`${NAME}: moves`]: moves, stepRows })
        return { stored, moves, stepRows }
      },
    }
  },
}
