import { processPath } from '../../harness/paths.ts'
import { startRestate } from '../../peers/start-restate.ts'
import { auditAccounts, createAccounts } from '../accounts.ts'
import type { Transfer } from '../move.ts'
import { peerJob } from '../transfer-jobs.ts'
import type { Peer } from './peer.ts'

const NAME = 'restate'
const PATH = '/transfer/run'
const HANDLER_ENVIRONMENT = { NODE_ENV: 'production', RESTATE_LOGGING: 'ERROR' }

export const restate: Peer = {
  name: NAME,
  packages: 'restate',
  note: 'one server with its defaults, whose journal it flushes to its own files; the handler is a process beside it. The effect and the record of a step are two commits, so a step may run more than once: it has no barrier, and thus one write less',
  async open({ harness, settings }, postgres, folder) {
    const url = await postgres.newDatabase(NAME)
    await createAccounts(url, settings.accounts)
    const server = await startRestate(harness, folder)
    const handler = harness.start({
      name: 'restate handler',
      script: processPath('restate-handler'),
      args: [folder, String(settings.accounts)],
      environment: { ...HANDLER_ENVIRONMENT, SERVICES_DATABASE: url },
    })
    const nothing: Transfer = { transfer: '', steps: 0 }
    await server.register(await handler.url(), { path: PATH, body: nothing })
    return {
      plan: {
        name: NAME,
        job: peerJob(`${server.ingressUrl}${PATH}`, settings),
        workers: [server.worker, handler, postgres.worker],
      },
      async audit(transfers) {
        return { moves: await auditAccounts(NAME, url, { transfers, steps: settings.branches }) }
      },
    }
  },
}
