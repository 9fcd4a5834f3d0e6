import { parseArgs } from 'node:util'
import { type FastifyReply, fastify } from 'fastify'
import { createPool } from 'mysql2/promise'
import { DtmApi } from '../dtm-api.ts'
import { type DeathPoint, OrderedDeath } from './ordered-death.ts'
import { PLANTED_FAULTS } from './planted-fault.ts'
import { WorkflowService } from './workflow-service.ts'
import { RefusedError, XaService, type XaWork } from './xa-branch.ts'

/** The participants of a run: branches of XA, and the client of recorded workflows with its callback. */
const text = { type: 'string', default: '' } as const
const { values } = parseArgs({
  options: {
    port: text,
    database: text,
    /** The URL at which servers and clients find this process. */
    url: text,
    /** The servers that it asks itself, with commas between them. */
    servers: text,
    notes: text,
    fault: text,
  },
})
const CONNECTIONS_MAX = 40
const fault = PLANTED_FAULTS.find((name) => name === values.fault) ?? 'none'
const pool = createPool({ uri: values.database, connectionLimit: CONNECTIONS_MAX })
const death = new OrderedDeath()
const deps = { pool, api: new DtmApi(values.servers.split(',')), death, fault }
const xa = new XaService({ ...deps, database: values.database })
const workflows = new WorkflowService({ ...deps, notes: values.notes })
const callbackUrl = `${values.url}/workflows`

const app = fastify({ logger: { level: 'warn' }, forceCloseConnections: true })
// A decision on a branch has no body, and yet says that it is JSON.
app.removeAllContentTypeParsers()
app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
app.get('/live', async () => 'live')
app.post('/deaths', async ({ body }) => death.order(String(body) as DeathPoint))

app.post<{ Querystring: Readonly<Record<string, string>> }>('/xa', async ({ query, body }, reply) => {
  const { gid = '', branch_id: branch = '', op = '' } = query
  const call = { gid, branch, phase2Url: `${values.url}/xa` }
  return await answer(reply, async () => {
    if (op === 'commit' || op === 'rollback') await xa.decide(call, op)
    else await xa.prepare(call, JSON.parse(String(body)) as XaWork)
  })
})

app.post<{ Querystring: Readonly<Record<string, string>> }>('/workflows', async ({ query, body }, reply) => {
  const { gid = '', leavesAt } = query
  const data = JSON.parse(String(body))
  const run = { gid, data, callbackUrl }
  return await answer(reply, async () => {
    const end = await workflows.run(leavesAt === undefined ? run : { ...run, leavesAt })
    if (end === 'failed') throw new RefusedError('the workflow has failed')
  })
})

async function answer(reply: FastifyReply, serve: () => Promise<void>): Promise<unknown> {
  try {
    await serve()
    return { dtm_result: 'SUCCESS' }
  } catch (error: unknown) {
    reply.code(error instanceof RefusedError ? 409 : 500)
    return { message: String(error) }
  }
}

app.addHook('onClose', () => pool.end())
process.once('SIGTERM', () => void app.close())
await app.listen({ host: '127.0.0.1', port: Number(values.port) })
