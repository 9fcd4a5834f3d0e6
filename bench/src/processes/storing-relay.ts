// The relay with the two durable writes of a saga around its calls, by the store's own package. No state machine,
// nothing checked, no lease renewed. The environment names the store as it does for the server.
import { fastify } from 'fastify'
import { Pool } from 'undici'
import { beginSaga, countFinished } from '../storing-relay/begin-saga.ts'
import { openStore } from '../storing-relay/open-store.ts'
import {
  type Called,
  definitionText,
  finishedText,
  idOf,
  type RelayedBranch,
} from '../storing-relay/saga-texts.ts'
import { announce } from './announce.ts'

interface Body {
  readonly branches: readonly RelayedBranch[]
}

interface Target {
  readonly pool: Pool
  readonly path: string
}

const headers = { 'content-type': 'application/json' }
const store = await openStore(process.env)
const pools = new Map<string, Pool>()
const targets = new Map<string, Target>()
const app = fastify({ logger: false, keepAliveTimeout: 120_000 })

app.post<{ Body: Body }>('/sagas', async ({ body: { branches } }, reply) => {
  const saga = await beginSaga(store, definitionText(branches))
  const calls: Called[] = []
  for (const [position, branch] of branches.entries()) {
    const query = `?gid=${saga.gid}&trans_type=saga&branch_id=${idOf(branch, position)}&op=action`
    calls.push(await call(targetOf(branch.action), query, JSON.stringify(branch.payload)))
  }
  await saga.finish(finishedText(calls))
  return reply.header('content-type', 'application/json').send('{"status":"succeeded"}')
})

app.get('/finished', async () => ({ count: await countFinished(store) }))

async function call({ pool, path }: Target, query: string, body: string): Promise<Called> {
  const startedAt = Date.now()
  const response = await pool.request({ method: 'POST', path: path + query, headers, body })
  const answer = await response.body.text()
  if (response.statusCode !== 200) throw new Error(`a branch answered ${response.statusCode}`)
  return { startedAt, endedAt: Date.now(), answer }
}

function targetOf(url: string): Target {
  const known = targets.get(url)
  if (known !== undefined) return known
  const { origin, pathname: path } = new URL(url)
  const pool = pools.get(origin) ?? new Pool(origin, { pipelining: 1 })
  pools.set(origin, pool)
  const target = { pool, path }
  targets.set(url, target)
  return target
}

await app.listen({ host: '127.0.0.1', port: 0 })
announce(app.server.address())
process.on('SIGTERM', () => void store.close().then(() => process.exit(0)))
