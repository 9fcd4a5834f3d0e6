// The relay with the two durable writes of a saga around its calls, by the store's own package, and its calls by the
// orchestrator's own client. No state machine, nothing checked, no lease renewed. The environment names the store as it
// does for the server.
import { httpBranchCaller } from '@counterstep/branch-http'
import type { BranchCall } from '@counterstep/core'
import { fastify } from 'fastify'
import { beginSaga, countFinished } from '../two-writes-baseline/begin-saga.ts'
import { openStore } from '../two-writes-baseline/open-store.ts'
import {
  type Called,
  definitionText,
  finishedText,
  type RelayedBranch,
  toBranchId,
} from '../two-writes-baseline/saga-texts.ts'
import { announce } from './announce.ts'

interface Body {
  readonly branches: readonly RelayedBranch[]
}

const CALL_TIMEOUT_MS = 10_000

const store = await openStore(process.env)
const caller = httpBranchCaller()
const app = fastify({ logger: false, keepAliveTimeout: 120_000 })

app.post<{ Body: Body }>('/sagas', async ({ body: { branches } }, reply) => {
  const saga = await beginSaga(store, definitionText(branches))
  const calls: Called[] = []
  for (const [position, branch] of branches.entries()) calls.push(await call(saga.gid, branch, position))
  await saga.finish(finishedText(calls))
  return reply.header('content-type', 'application/json').send('{"status":"succeeded"}')
})

app.get('/finished', async () => ({ count: await countFinished(store) }))

async function call(gid: BranchCall['gid'], branch: RelayedBranch, position: number): Promise<Called> {
  const startedAt = Date.now()
  const { result, excerpt, statusCode, error } = await caller.call({
    gid,
    kind: 'saga',
    branchId: toBranchId(branch, position) as BranchCall['branchId'],
    op: 'action',
    attempt: 1,
    epoch: 1,
    acceptedAt: startedAt,
    method: 'POST',
    url: branch.action,
    body: JSON.stringify(branch.payload),
    contentType: 'application/json',
    headers: {},
    timeoutMs: CALL_TIMEOUT_MS,
    wordsCount: false,
  })
  if (result !== 'success') throw new Error(`a branch answered ${statusCode ?? error}`)
  return { startedAt, endedAt: Date.now(), answer: excerpt ?? '' }
}

await app.listen({ host: '127.0.0.1', port: 0 })
announce(app.server.address())
process.on('SIGTERM', () => {
  void Promise.all([caller.close(), store.close()]).then(() => process.exit(0))
})
