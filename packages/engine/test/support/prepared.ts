import type { Gid, TransactionView } from '@counterstep/protocol'
import type { Fixture, TestNode } from './fixture.ts'
import { watched } from './sagas.ts'

export function buildTcc(gid: string, change: Readonly<Record<string, unknown>> = {}) {
  return { gid, kind: 'tcc', ...change } as const
}

export function buildRegistration(id: string, change: Readonly<Record<string, unknown>> = {}) {
  const url = `http://bank.test/${id}`
  return { id, confirm: `${url}/confirm`, cancel: `${url}/cancel`, payload: { amount: 1 }, ...change }
}

/** Builds a message with a query-back after 5 s. */
export function buildMessage(gid: string, branches = 2, change: Readonly<Record<string, unknown>> = {}) {
  return {
    gid,
    kind: 'message',
    branches: Array.from({ length: branches }, (_, position) => ({
      action: `http://bank.test/${position + 1}/action`,
    })),
    check: { url: 'http://bank.test/query', afterMs: 5_000 },
    ...change,
  } as const
}

export function register(node: TestNode, gid: string, id: string, change = {}): Promise<TransactionView> {
  return node.engine.registerBranch(gid as Gid, buildRegistration(id, change))
}

export function submitPrepared(node: TestNode, gid: string, waitMs = 0): Promise<TransactionView> {
  return node.engine.submitPrepared(gid as Gid, { waitMs })
}

export function abort(node: TestNode, gid: string, waitMs = 0): Promise<TransactionView> {
  return node.engine.abort(gid as Gid, { waitMs, reason: 'no money' })
}

/** Prepares a TCC on `node`, with branches a and b. */
export async function preparedTcc(fixture: Fixture, node: TestNode, gid: string, change = {}): Promise<void> {
  await node.submit(buildTcc(gid, change))
  for (const id of ['a', 'b']) await register(node, gid, id)
  if ((await fixture.status(gid)) !== 'prepared') throw new Error('it is not prepared')
}

/** Lets the time pass until the call is answered. */
export async function answered<T>(fixture: Fixture, promise: Promise<T>): Promise<T> {
  const state = watched(promise)
  await fixture.time.until('answered', () => state.isSettled)
  return await promise
}
