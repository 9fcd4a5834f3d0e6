import { targetPolicy } from '@counterstep/branch-http/targets'
import type { BranchAnswer, BranchCall, Store } from '@counterstep/core'
import { createEngine, DEFAULT_SETTINGS, nodeClock, nodeIds } from '@counterstep/engine'
import { createClient } from '@counterstep/sdk'
import { buildApp, createPrometheusObserver, createRegistry } from '@counterstep/server'
import { memoryStore } from '@counterstep/store-conformance'

type Answer = BranchAnswer | Promise<BranchAnswer>

/**
 * This is the real server on a port of its own, with branches that the test plays. Several may share a store, which
 * is then not closed here.
 */
export async function serve(play: (call: BranchCall) => Answer, sharedStore?: Store) {
  const calls: string[] = []
  const store = sharedStore ?? memoryStore()
  const registry = createRegistry()
  const targets = targetPolicy({ services: [], allowed: [], others: 'any', isLocal: true })
  const engine = createEngine({
    store,
    branches: {
      async call(call) {
        calls.push(`${call.branchId} ${call.op}`)
        return play(call)
      },
      close: async () => undefined,
    },
    checkUrl: (url) => targets.check(url),
    clock: nodeClock(),
    ids: nodeIds(),
    observer: createPrometheusObserver(registry),
    settings: DEFAULT_SETTINGS,
  })
  await engine.start()
  const app = buildApp({ engine, registry })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  return {
    url,
    server: app.server,
    calls,
    client: createClient({ url }),
    async [Symbol.asyncDispose]() {
      await app.close()
      await engine.close(1_000)
      if (sharedStore === undefined) await store.close()
    },
  }
}

export const SUCCESS: BranchAnswer = { result: 'success', statusCode: 200 }
export const FAILURE: BranchAnswer = { result: 'failure', statusCode: 409 }

/** Calls a branch as the server would, over HTTP, and reads its answer by the status. */
export async function callOver(call: BranchCall): Promise<BranchAnswer> {
  const ids = { gid: call.gid, trans_type: call.kind, branch_id: call.branchId, op: call.op }
  const response = await fetch(`${call.url}?${new URLSearchParams(ids)}`, {
    method: call.method,
    headers: { ...call.headers, 'counterstep-accepted-at': String(call.acceptedAt) },
    ...(call.method === 'GET' ? {} : { body: call.body, headers: { 'content-type': call.contentType } }),
  })
  const results = { 200: 'success', 409: 'failure', 425: 'ongoing' } as const
  const statusCode = response.status
  const excerpt = (await response.text()).slice(0, 1_024)
  return { result: results[statusCode as 200 | 409 | 425] ?? 'unknown', statusCode, excerpt }
}
