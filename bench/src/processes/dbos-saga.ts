// A saga as a workflow of DBOS, in the program that the callers ask. Argument: the folder of the packages of DBOS. The URL of
// the database for its records is in SYSTEM_DATABASE.
import { fastify } from 'fastify'
import { callBranch } from '../peers/call-branch.ts'
import { requireFrom } from '../peers/pinned-packages.ts'
import { type SagaBranch, type SagaRequest, SUCCEEDED } from '../peers/saga-request.ts'
import { CONNECTIONS_MAX } from '../workflow/open-pool.ts'
import { announce } from './announce.ts'

type RunSaga = (branches: readonly SagaBranch[]) => Promise<object>

interface DbosSdk {
  readonly DBOS: {
    setConfig(config: {
      readonly name: string
      readonly systemDatabaseUrl: string
      readonly systemDatabasePoolSize: number
      readonly runAdminServer: boolean
      readonly logLevel: string
    }): void
    registerWorkflow(run: RunSaga, options: { readonly name: string }): RunSaga
    runStep(effect: () => Promise<void>, options: { readonly name: string }): Promise<void>
    withNextWorkflowID(id: string, run: () => Promise<object>): Promise<object>
    launch(): Promise<void>
  }
}

const [folder = ''] = process.argv.slice(2)
const { SYSTEM_DATABASE = '' } = process.env
const { DBOS } = requireFrom<DbosSdk>(folder, '@dbos-inc/dbos-sdk')

DBOS.setConfig({
  name: 'saga',
  systemDatabaseUrl: SYSTEM_DATABASE,
  systemDatabasePoolSize: CONNECTIONS_MAX,
  runAdminServer: false,
  logLevel: 'error',
})

const runSaga = DBOS.registerWorkflow(
  async (branches) => {
    const called: SagaBranch[] = []
    try {
      for (const branch of branches) {
        called.push(branch)
        await DBOS.runStep(() => callBranch(branch.action, branch.payload), { name: 'action' })
      }
      return SUCCEEDED
    } catch {
      // A step that has thrown is recorded so, and is not repeated unless it is asked for.
      for (const { compensation, payload } of called.reverse())
        await DBOS.runStep(() => callBranch(compensation, payload), { name: 'compensation' })
      return { status: 'failed' }
    }
  },
  { name: 'saga' },
)
await DBOS.launch()

const app = fastify({ logger: { level: 'error' }, keepAliveTimeout: 120_000 })
app.post<{ Body: SagaRequest }>('/sagas', ({ body: { gid, branches } }) =>
  DBOS.withNextWorkflowID(gid, () => runSaga(branches)),
)
await app.listen({ host: '127.0.0.1', port: 0 })
announce(app.server.address())
process.on('SIGTERM', () => process.exit(0))
