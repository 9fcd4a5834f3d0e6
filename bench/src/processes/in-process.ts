// A program whose branches are functions of its own: one request in, one saga, no request out. The environment names the store as
// it does for the server. Arguments: the number of branches.
import { createCounterstep, type InProcessBranch } from '@counterstep/embedded'
import { fastify } from 'fastify'
import { countFinished } from '../two-writes-baseline/begin-saga.ts'
import { openStore } from '../two-writes-baseline/open-store.ts'
import { announce } from './announce.ts'

const WAIT_MS = 30_000

const branches = Number(process.argv[2])
let calls = 0
/** Answers as the branch process does. */
const answer: InProcessBranch = () => {
  calls += 1
  return { answer: { statusCode: 200, body: '{}' } }
}
const paths = Array.from({ length: branches }, (_, index) => index + 1)
const quiet = () => undefined
const store = await openStore(process.env)
const counterstep = await createCounterstep({
  store,
  branches: {
    app: Object.fromEntries(
      paths.flatMap((n) => [`/action-${n}`, `/compensation-${n}`].map((path) => [path, answer])),
    ),
  },
  logger: { info: quiet, warn: quiet, error: (_, message) => process.stderr.write(`${message}\n`) },
})
await counterstep.start()
const app = fastify({ logger: false, keepAliveTimeout: 120_000 })

app.post('/sagas', async ({ body }, reply) => {
  const { status } = await counterstep.submit(body as Parameters<typeof counterstep.submit>[0], {
    waitMs: WAIT_MS,
  })
  return reply.header('content-type', 'application/json').send(`{"status":"${status}"}`)
})
app.get('/counts', async () => ({ calls, stored: await countFinished(store) }))

await app.listen({ host: '127.0.0.1', port: 0 })
announce(app.server.address())
process.on('SIGTERM', () => {
  void counterstep
    .close()
    .then(() => store.close())
    .then(() => process.exit(0))
})
