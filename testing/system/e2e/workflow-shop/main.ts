// A shop with a workflow, in a process that a test can kill: node main.ts FILE PORT [the call at which it dies].
import { DatabaseSync } from 'node:sqlite'
import type { Branch } from '@counterstep/sdk'
import { migrateBarrier } from '@counterstep/sdk/barrier/sqlite'
import { branchHandler, workflowHandler } from '@counterstep/sdk/fastify'
import fastify from 'fastify'
import { createOrder, note } from './order.ts'

const [file = '', port = '', diesAt] = process.argv.slice(2)
const database = new DatabaseSync(file)
database.exec('PRAGMA journal_mode = WAL')
migrateBarrier(database)
database.exec('CREATE TABLE IF NOT EXISTS happened (id INTEGER PRIMARY KEY, what TEXT NOT NULL)')
const { barrier, order } = createOrder(database, `http://127.0.0.1:${port}`)

const app = fastify({ forceCloseConnections: true })
// It dies when its work is committed, and before anyone is told.
app.addHook('onSend', async ({ query }) => {
  const { op, branch_id } = query as Readonly<Record<string, string>>
  if (diesAt === `${branch_id} ${op}`) process.kill(process.pid, 'SIGKILL')
})
app.post('/workflows', workflowHandler([order]))
for (const what of ['charged', 'refunded', 'mailed', 'apologized']) {
  const handler = (tx: DatabaseSync, { payload }: Branch<{ of: string | number }>) => ({
    payment: note(tx, `${what} ${payload.of}`),
  })
  app.post(`/${what}`, branchHandler(barrier, handler))
}
app.get('/happened', async () =>
  database
    .prepare('SELECT what FROM happened ORDER BY id')
    .all()
    .map(({ what }) => what),
)
process.once('SIGTERM', () => void app.close().then(() => database.close()))
const url = await app.listen({ host: '127.0.0.1', port: Number(port) })
process.stdout.write(`${JSON.stringify({ url })}\n`)
