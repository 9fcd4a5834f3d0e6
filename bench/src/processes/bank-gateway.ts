// The gateway that gets every transfer, whichever the column. Arguments: the URLs of the services, the
// two-writes baseline and the server, the number of accounts.
import { createClient } from '@counterstep/sdk'
import { fastify } from 'fastify'
import { Pool } from 'undici'
import { COLUMNS } from '../transfer/columns.ts'
import { serveTransfers } from '../transfer/gateway.ts'
import { announce } from './announce.ts'

const [servicesUrl = '', baselineUrl = '', serverUrl = '', accounts = ''] = process.argv.slice(2)
const backends = {
  servicesUrl,
  services: new Pool(servicesUrl, { pipelining: 1 }),
  twoWritesBaseline: new Pool(baselineUrl, { pipelining: 1 }),
  client: createClient({ url: serverUrl }),
  accounts: Number(accounts),
}
const app = fastify({ logger: { level: 'error' }, keepAliveTimeout: 120_000 })
for (const column of COLUMNS) serveTransfers(app, backends, column)

await app.listen({ host: '127.0.0.1', port: 0 })
announce(app.server.address())
process.on('SIGTERM', () => process.exit(0))
