import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { findCanaries } from '@counterstep/test-servers/canary'
import { fastify } from 'fastify'
import { SeededRandom } from '../seeded-random.ts'
import type { Guard } from './bank-database.ts'
import { applyMood } from './mood.ts'
import { openMysqlBank } from './mysql-bank.ts'
import { openSqliteBank } from './sqlite-bank.ts'
import { readTransferPayload } from './transfer-payload.ts'

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    /** A file, or mysql://… */
    database: { type: 'string', default: '' },
    guard: { type: 'string', default: 'barrier' },
    seed: { type: 'string', default: '1' },
  },
})
const guard: Guard = values.guard === 'none' ? 'none' : 'barrier'
const database = values.database.startsWith('mysql:')
  ? await openMysqlBank(values.database, guard)
  : openSqliteBank(values.database, guard)
const random = new SeededRandom(Number(values.seed), 'moods')

const app = fastify({
  // A query may have a secret, and this log is searched for them.
  logger: { level: 'warn', serializers: { req: ({ method, url }) => ({ method, url: withoutToken(url) }) } },
  forceCloseConnections: true,
})
app.addHook('preHandler', async ({ body, headers }) => {
  if (body === undefined) return
  // A secret that never came here could not have been shown on the way.
  if (findCanaries({ headers: JSON.stringify(headers) }).length === 0)
    throw new Error('a call without its secret')
  const { slowMs } = readTransferPayload(body)
  if (slowMs > 0) await delay(slowMs)
})
app.get('/live', async () => 'live')
app.post(
  '/move',
  database.route((branch) => applyMood(branch, () => random.next())),
)
app.addHook('onClose', () => database.close())
process.once('SIGTERM', () => void app.close())
const url = await app.listen({ host: '127.0.0.1', port: Number(values.port) })
process.stdout.write(`${JSON.stringify({ url })}\n`)

function withoutToken(url: string): string {
  return url.replace(/token=[^&]*/, 'token=')
}
