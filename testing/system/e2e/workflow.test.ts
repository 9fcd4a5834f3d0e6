import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createClient } from '@counterstep/sdk'
import { freePort } from '@counterstep/test-servers'
import { until } from '@counterstep/test-servers/until'
import { expect, it, onTestFinished } from 'vitest'
import { type Child, serveUntilTestEnds, startChild } from './child-process.ts'
import { approval, createOrder, type OrderInput } from './workflow-shop/order.ts'

const STUCK_MS = 60_000
const TIMEOUT_MS = 3 * STUCK_MS
const RETRY = ['--retry-initial-ms', '50', '--retry-cap-ms', '200', '--poll-ms', '100']

/** A server and a shop, each in a process of its own. The shop is started again after it has died. */
async function openShop() {
  const folder = mkdtempSync(join(tmpdir(), 'counterstep-workflow-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const server = await serveUntilTestEnds(folder, ['--accept-new-kinds', ...RETRY])
  const port = await freePort()
  let shop: Child | undefined
  onTestFinished(async () => shop?.kill('SIGTERM'))
  const client = createClient({ url: server.url })
  const database = new DatabaseSync(':memory:')
  onTestFinished(() => database.close())
  const base = `http://127.0.0.1:${port}`
  // The client needs only the types and the name of the workflow.
  const { order } = createOrder(database, base)
  return {
    client,
    async startShop(...diesAt: readonly string[]) {
      shop = await startChild('testing/system/e2e/workflow-shop/main.ts', [
        join(folder, 'shop.db'),
        String(port),
        ...diesAt,
      ])
      return shop
    },
    startOrder: (gid: string, input: OrderInput, more: { readonly grants?: number } = {}) =>
      client.start(order, { gid, handler: `${base}/workflows`, input, ...more }),
    listHappened: async () => (await (await fetch(`${base}/happened`)).json()) as readonly string[],
  }
}

it('A workflow of steps, calls, a sleep and a signal ends with the result of its function', {
  timeout: TIMEOUT_MS,
}, async () => {
  const { client, startShop, startOrder, listHappened } = await openShop()
  await startShop()
  await startOrder('order-1', { sku: 'cup' })
  await client.signal('order-1', approval, { by: 'kim' })
  const view = await client.wait('order-1', { timeoutMs: STUCK_MS })
  expect(view).toMatchObject({ status: 'succeeded', result: { payment: 2, by: 'kim' } })
  const happened = await listHappened()
  expect(happened.slice(0, 2)).toEqual(['reserved cup', 'charged 1'])
  expect([...happened.slice(2)].sort()).toEqual(['mailed kim', 'packed 1'])
})

it('A workflow that fails at last is undone, what was planned last before what it was planned after', {
  timeout: TIMEOUT_MS,
}, async () => {
  const { client, startShop, startOrder, listHappened } = await openShop()
  await startShop()
  await startOrder('order-2', { sku: 'cup', isRefusedAtLast: true })
  await client.signal('order-2', approval, { by: 'kim' })
  const view = await client.wait('order-2', { timeoutMs: STUCK_MS })
  expect(view).toMatchObject({ status: 'failed', abort: { cause: 'workflow-failed', code: 'BROKEN' } })
  const undone = (await listHappened()).slice(4)
  expect([...undone.slice(0, 2)].sort()).toEqual(['apologized kim', 'unpacked 1'])
  expect(undone.slice(2)).toEqual(['refunded 2', 'unreserved cup 1'])
})

it('A workflow goes on as new generations, keeps what they have done, and ends with the result of the last', {
  timeout: TIMEOUT_MS,
}, async () => {
  const { client, startShop, startOrder, listHappened } = await openShop()
  await startShop()
  await startOrder('order-6', { sku: 'cup', more: 2 })
  for (const id of ['1', '2', '3']) await client.signal('order-6', approval, { by: `kim ${id}` }, { id })
  const view = await client.wait('order-6', { timeoutMs: STUCK_MS })
  expect(view).toMatchObject({
    ...{ status: 'succeeded', result: { payment: 10, by: 'kim 3' } },
    workflow: { generation: 3, generationAt: expect.any(Number) },
  })
  expect(view.branches.map(({ id, stepId }) => stepId ?? id)).toContain('charge')
  expect(view.branches.map(({ id }) => id)).toContain('charge~3')
  const happened = await listHappened()
  expect(happened.filter((what) => what.startsWith('mailed'))).toEqual([
    'mailed kim 1',
    'mailed kim 2',
    'mailed kim 3',
  ])
  expect(happened.filter((what) => what.startsWith('charged'))).toEqual([
    'charged 1',
    'charged 5',
    'charged 9',
  ])
  expect(happened).toHaveLength(12)
})

it('A generation that fails is undone alone, also if the shop dies in it', {
  timeout: TIMEOUT_MS,
}, async () => {
  const { client, startShop, startOrder, listHappened } = await openShop()
  const first = await startShop('charge~2 action')
  await startOrder('order-7', { sku: 'cup', more: 1, isRefusedAtLast: true })
  for (const id of ['1', '2']) await client.signal('order-7', approval, { by: 'kim' }, { id })
  expect(await first.ended).toBeNull()
  await startShop()
  const view = await client.wait('order-7', { timeoutMs: STUCK_MS })
  expect(view).toMatchObject({ status: 'failed', abort: { code: 'BROKEN' }, workflow: { generation: 2 } })
  const happened = await listHappened()
  expect([...happened].sort()).toEqual([
    ...['apologized kim', 'charged 1', 'charged 5', 'mailed kim', 'mailed kim', 'packed 1', 'packed 5'],
    ...['refunded 6', 'reserved cup', 'reserved cup', 'unpacked 5', 'unreserved cup 5'],
  ])
})

it('A shop that dies behind a commit of a step, of a call and in a plan goes on when it is started again', {
  timeout: TIMEOUT_MS,
}, async () => {
  const { client, startShop, startOrder, listHappened } = await openShop()
  const first = await startShop('~1 action')
  await startOrder('order-3', { sku: 'cup' }, { grants: 0 })
  expect(await first.ended).toBeNull()
  // The step is in the barrier, and the orchestrator has not heard of it.
  const second = await startShop('charge action')
  expect(await second.ended).toBeNull()
  const third = await startShop('00 plan')
  await client.signal('order-3', approval, { by: 'kim' })
  expect(await third.ended).toBeNull()
  await startShop()
  const view = await client.wait('order-3', { timeoutMs: STUCK_MS })
  expect(view).toMatchObject({ status: 'succeeded', result: { payment: 2, by: 'kim' } })
  const reserve = view.branches.find(({ id }) => id === '~1')
  expect(reserve?.ops.find(({ op }) => op === 'action')?.attempts).toBeGreaterThan(1)
  const happened = await listHappened()
  expect([...happened].sort()).toEqual(['charged 1', 'mailed kim', 'packed 1', 'reserved cup'])
})

it('A shop that dies when steps have run within a plan, and before it has told, goes on with what they did', {
  timeout: TIMEOUT_MS,
}, async () => {
  const { client, startShop, startOrder, listHappened } = await openShop()
  const first = await startShop('00 plan')
  await startOrder('order-5', { sku: 'cup' })
  expect(await first.ended).toBeNull()
  const second = await startShop()
  expect(await listHappened()).toContain('reserved cup')
  await second.kill('SIGKILL')
  // However far the second has come, a plan is asked for after this.
  await client.signal('order-5', approval, { by: 'kim' })
  const third = await startShop('00 plan')
  expect(await third.ended).toBeNull()
  await startShop()
  const view = await client.wait('order-5', { timeoutMs: STUCK_MS })
  expect(view).toMatchObject({ status: 'succeeded', result: { payment: 2, by: 'kim' } })
  const happened = await listHappened()
  expect([...happened].sort()).toEqual(['charged 1', 'mailed kim', 'packed 1', 'reserved cup'])
})

it('Steps of which no plan has told are undone when their workflow is aborted', {
  timeout: TIMEOUT_MS,
}, async () => {
  const { client, startShop, startOrder, listHappened } = await openShop()
  const first = await startShop('00 plan')
  await startOrder('order-6', { sku: 'cup' })
  expect(await first.ended).toBeNull()
  await client.abort('order-6')
  await startShop()
  const view = await client.wait('order-6', { timeoutMs: STUCK_MS })
  expect(view).toMatchObject({ status: 'failed', abort: { cause: 'requested' } })
  expect(await listHappened()).toEqual(['reserved cup', 'unreserved cup 1'])
})

it('A workflow that a person aborts while its shop is away is undone when the shop is back, without its function', {
  timeout: TIMEOUT_MS,
}, async () => {
  const { client, startShop, startOrder, listHappened } = await openShop()
  const shop = await startShop()
  await startOrder('order-4', { sku: 'cup' })
  await until('the order waits for its signal', STUCK_MS, async () => {
    const { branches } = await client.get('order-4')
    return branches.some(({ id }) => id === 'approved')
  })
  await shop.kill('SIGKILL')
  await client.abort('order-4')
  // It would die in the first plan.
  await startShop('00 plan')
  const view = await client.wait('order-4', { timeoutMs: STUCK_MS })
  expect(view).toMatchObject({ status: 'failed', abort: { cause: 'requested' } })
  expect(await listHappened()).toEqual(['reserved cup', 'charged 1', 'refunded 2', 'unreserved cup 1'])
})
