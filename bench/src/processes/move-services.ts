// The service that has the accounts. Argument: their number. The database's URL is in SERVICES_DATABASE.
import { migrateBarrier } from '@counterstep/sdk/barrier/postgres'
import { fastify } from 'fastify'
import { openPool } from '../workflow/open-pool.ts'
import { serveMoves } from '../workflow/serve-moves.ts'
import { announce } from './announce.ts'

const [accounts = ''] = process.argv.slice(2)
const pool = openPool()
await migrateBarrier(pool)
const app = fastify({ logger: { level: 'error' }, keepAliveTimeout: 120_000 })
serveMoves(app, pool, Number(accounts))

await app.listen({ host: '127.0.0.1', port: 0 })
announce(app.server.address())
process.on('SIGTERM', () => process.exit(0))
