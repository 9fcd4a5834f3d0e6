// The program that a team writes by hand: a row before the calls, the calls, and the row changed after them. The URL of its
// database is in SAGA_DATABASE.
import { fastify } from 'fastify'
import { createPool } from 'mysql2/promise'
import { callBranch } from '../peers/call-branch.ts'
import { type SagaRequest, SUCCEEDED } from '../peers/saga-request.ts'
import { announce } from './announce.ts'

const CONNECTIONS_MAX = 20
const INSERT =
  "INSERT INTO saga (gid, status, definition, progress, created_at) VALUES (?, 'submitted', ?, '{}', NOW(3))"
const UPDATE = "UPDATE saga SET status = 'succeeded', progress = ?, finished_at = NOW(3) WHERE gid = ?"

const { SAGA_DATABASE: uri = '' } = process.env
const pool = createPool({ uri, connectionLimit: CONNECTIONS_MAX, maxIdle: CONNECTIONS_MAX })
const app = fastify({ logger: { level: 'error' }, keepAliveTimeout: 120_000 })

app.post<{ Body: SagaRequest }>('/sagas', async ({ body: { gid, branches } }) => {
  await pool.execute(INSERT, [gid, JSON.stringify(branches)])
  const calls: object[] = []
  for (const { action, payload } of branches) {
    const startedAt = Date.now()
    await callBranch(action, payload)
    calls.push({ action, startedAt, endedAt: Date.now(), status: 'succeeded' })
  }
  await pool.execute(UPDATE, [JSON.stringify(calls), gid])
  return SUCCEEDED
})

await app.listen({ host: '127.0.0.1', port: 0 })
announce(app.server.address())
process.on('SIGTERM', () => process.exit(0))
