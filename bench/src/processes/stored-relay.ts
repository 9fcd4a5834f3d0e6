// The bound: the relay with the two durable writes of a saga around its calls, straight through the store's package.
// No state machine, nothing checked, no lease renewed. The environment names the store as it does for the server.
import { fastify } from 'fastify'
import { Pool } from 'undici'
import { openBoundStore } from '../bound/open-bound-store.ts'
import { countFinished, storedSaga } from '../bound/stored-saga.ts'
import { announce } from './announce.ts'

interface Branch {
  readonly id?: string
  readonly action: string
  readonly payload: unknown
}

interface Body {
  readonly branches: readonly Branch[]
}

const headers = { 'content-type': 'application/json' }
const store = await openBoundStore(process.env)
const pools = new Map<string, Pool>()
const app = fastify({ logger: false, keepAliveTimeout: 120_000 })

app.post<{ Body: Body }>('/stored-relay', async ({ body }, reply) => {
  const saga = await storedSaga(store, JSON.stringify(body))
  for (const [index, { id = `0${index + 1}`, action, payload }] of body.branches.entries()) {
    const { origin, pathname } = new URL(action)
    const path = `${pathname}?gid=${saga.gid}&trans_type=saga&branch_id=${id}&op=action`
    await call(origin, path, JSON.stringify(payload))
  }
  await saga.finish()
  return reply.header('content-type', 'application/json').send('{"status":"succeeded"}')
})

app.get('/finished', async () => ({ count: await countFinished(store) }))

async function call(origin: string, path: string, body: string): Promise<void> {
  const pool = pools.get(origin) ?? new Pool(origin, { pipelining: 1 })
  pools.set(origin, pool)
  const answer = await pool.request({ method: 'POST', path, headers, body })
  await answer.body.text()
  if (answer.statusCode !== 200) throw new Error(`a branch answered ${answer.statusCode}`)
}

await app.listen({ host: '127.0.0.1', port: 0 })
announce(app.server.address())
process.on('SIGTERM', () => void store.close().then(() => process.exit(0)))
