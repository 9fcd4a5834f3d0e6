// Both services of the transfers, for all columns. The database's URL, which may hold a password, is in BANK_DATABASE.
import { fastify } from 'fastify'
import { createPool } from 'mysql2/promise'
import { serveColumn } from '../transfer/bank-services.ts'
import { COLUMNS } from '../transfer/columns.ts'
import { announce } from './announce.ts'

/** The gateway has as many callers by default, so a call never waits for a connection. */
const CONNECTIONS_MAX = 20

const { BANK_DATABASE: uri = '' } = process.env
const pool = createPool({ uri, connectionLimit: CONNECTIONS_MAX, maxIdle: CONNECTIONS_MAX })
const app = fastify({ logger: { level: 'error' }, keepAliveTimeout: 120_000 })
for (const column of COLUMNS) serveColumn(app, pool, column)

await app.listen({ host: '127.0.0.1', port: 0 })
announce(app.server.address())
process.on('SIGTERM', () => process.exit(0))
