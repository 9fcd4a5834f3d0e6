// The program with DBOS that changes accounts. Arguments: the folder of the packages of DBOS, the number of accounts. The URL
// of the database for its records is in SYSTEM_DATABASE.
import { fastify } from 'fastify'
import { requireFrom } from '../peers/pinned-packages.ts'
import { type Transfer, toAccount, toCents } from '../workflow/move.ts'
import { CONNECTIONS_MAX } from '../workflow/open-pool.ts'
import { toAnswer } from '../workflow/transfer-jobs.ts'
import { announce } from './announce.ts'

type RunTransfer = (input: Transfer) => Promise<object>

interface DbosSdk {
  readonly DBOS: {
    setConfig(config: {
      readonly name: string
      readonly systemDatabaseUrl: string
      readonly systemDatabasePoolSize: number
      readonly runAdminServer: boolean
      readonly logLevel: string
    }): void
    registerWorkflow(run: RunTransfer, options: { readonly name: string }): RunTransfer
    launch(): Promise<void>
  }
}

interface PostgresOptions {
  readonly host: string
  readonly port: number
  readonly database: string
  readonly username: string
  readonly max: number
}

interface DataSource {
  readonly client: (text: TemplateStringsArray, ...values: readonly number[]) => Promise<unknown>
  runTransaction(effect: () => Promise<void>, options: { readonly name: string }): Promise<void>
}

interface DbosDataSources {
  readonly PostgresDataSource: new (name: string, options: PostgresOptions) => DataSource
}

const [folder = '', accounts = ''] = process.argv.slice(2)
const { SERVICES_DATABASE = '', SYSTEM_DATABASE = '' } = process.env
const { DBOS } = requireFrom<DbosSdk>(folder, '@dbos-inc/dbos-sdk')
const { PostgresDataSource } = requireFrom<DbosDataSources>(folder, '@dbos-inc/postgres-datasource')

DBOS.setConfig({
  name: 'transfer',
  systemDatabaseUrl: SYSTEM_DATABASE,
  systemDatabasePoolSize: CONNECTIONS_MAX,
  runAdminServer: false,
  logLevel: 'error',
})
const { hostname, port, pathname, username } = new URL(SERVICES_DATABASE)
const source = new PostgresDataSource('accounts', {
  host: hostname,
  port: Number(port),
  database: pathname.slice(1),
  username,
  max: CONNECTIONS_MAX,
})

const runTransfer = DBOS.registerWorkflow(
  async ({ transfer, steps }: Transfer) => {
    for (let number = 1; number <= steps; number += 1) {
      const account = toAccount({ transfer, number }, Number(accounts))
      const move = async () => {
        await source.client`UPDATE account SET cents = cents + ${toCents(number)}, moves = moves + 1 WHERE id = ${account}`
      }
      await source.runTransaction(move, { name: 'move' })
    }
    return toAnswer(steps)
  },
  { name: 'transfer' },
)
await DBOS.launch()

const app = fastify({ logger: { level: 'error' }, keepAliveTimeout: 120_000 })
app.post('/transfers', (request) => runTransfer(request.body as Transfer))
await app.listen({ host: '127.0.0.1', port: 0 })
announce(app.server.address())
process.on('SIGTERM', () => process.exit(0))
