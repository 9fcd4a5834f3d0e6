import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Branch } from '@counterstep/sdk'
import { workflowHandler } from '@counterstep/sdk/fastify'
import { findCanaries } from '@counterstep/test-servers/canary'
import { fastify } from 'fastify'
import { SeededRandom } from '../seeded-random.ts'
import { makeToken } from '../tokens/token.ts'
import { AimedDeath, type DeathOrder } from './aimed-death.ts'
import type { BankDatabase, Guard } from './bank-database.ts'
import { CAPTURE, HOLD, TRANSFER } from './bank-work.ts'
import { applyMood } from './mood.ts'
import { openMysqlBank } from './mysql-bank.ts'
import { openPostgresBank } from './postgres-bank.ts'
import { openSqliteBank } from './sqlite-bank.ts'
import { MENDED_HEADER, readTransferPayload, type TransferPayload } from './transfer-payload.ts'
import { createTransferWorkflow } from './transfer-workflow.ts'

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    /** A file, mysql://… or postgres://… */
    database: { type: 'string', default: '' },
    guard: { type: 'string', default: 'barrier' },
    seed: { type: 'string', default: '1' },
    /** The file that all lives of this process share, and that tells of deaths that were ordered. */
    deaths: { type: 'string', default: '' },
  },
})
const WORKFLOWS = '/workflows'
const DEATHS = '/deaths'
const guard: Guard = values.guard === 'none' ? 'none' : 'barrier'
const database = await openBank(values.database)
const random = new SeededRandom(Number(values.seed), 'moods')

const app = fastify({
  // A query may have a secret, and this log is searched for them.
  logger: { level: 'warn', serializers: { req: ({ method, url }) => ({ method, url: withoutToken(url) }) } },
  forceCloseConnections: true,
})
app.addHook('preHandler', async ({ body, params, headers, routeOptions }) => {
  if (body === undefined || routeOptions.url === DEATHS) return
  // A secret that never came here could not have been shown on the way.
  if (findCanaries({ headers: JSON.stringify(headers) }).length === 0)
    throw new Error('a call without its secret')
  if (routeOptions.url === WORKFLOWS) return
  // An id in the path is as good as one in the payload.
  Object.assign(body as object, params)
  if (headers[MENDED_HEADER] !== undefined) Object.assign(body as object, { mood: 'sound' })
  const { slowMs } = readTransferPayload(body)
  if (slowMs > 0) await delay(slowMs)
})
app.get('/live', async () => 'live')
const before = (branch: Branch<TransferPayload>) => applyMood(branch, () => random.next())
app.post('/move', database.route(before, TRANSFER))
const hold = database.route(before, HOLD)
app.post('/holds', hold)
app.post('/release', hold)
const capture = database.route(before, CAPTURE)
app.post('/holds/:hold/capture', capture)
app.post('/payments/:payment/refund', capture)
// A participant without a barrier, which has no effect and answers anew each time.
app.post('/quotes', async () => ({ id: makeToken('quote') }))
const death = new AimedDeath(values.deaths)
app.post(DEATHS, async ({ body }) => death.arm(body as DeathOrder))
const barrier = death.watchBarrier(database.stepBarrier)
// Each life but the first one has the code of a later deployment.
const transfer = createTransferWorkflow(barrier, () => random.next(), death.hasLivedBefore)
const serveWorkflows = workflowHandler([transfer])
const onSend = async (_request: unknown, _reply: unknown, payload: unknown) => {
  death.beforeAnswer()
  return payload
}
app.post(WORKFLOWS, { onSend }, (request, reply) =>
  death.watchCall(request.originalUrl, () => serveWorkflows(request, reply)),
)
app.addHook('onClose', () => database.close())
process.once('SIGTERM', () => void app.close())
const url = await app.listen({ host: '127.0.0.1', port: Number(values.port) })
process.stdout.write(`${JSON.stringify({ url })}\n`)

function withoutToken(url: string): string {
  return url.replace(/token=[^&]*/, 'token=')
}

async function openBank(place: string): Promise<BankDatabase> {
  if (place.startsWith('mysql:')) return openMysqlBank(place, guard)
  if (place.startsWith('postgres:')) return openPostgresBank(place, guard)
  return openSqliteBank(place, guard)
}
