/** Workflows over real HTTP, on SQLite: submitted to a server, planned by a handler, with steps at a participant. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { httpBranchCaller } from '@counterstep/branch-http'
import { loopbackTargets } from '@counterstep/branch-http/targets'
import type { TransactionView } from '@counterstep/protocol'
import { submitViewSchema, transactionPageSchema, transactionViewSchema } from '@counterstep/protocol/schemas'
import { openSqliteStore } from '@counterstep/store-sqlite'
import type { PlanContext, WorkflowProgram } from '@counterstep/workflow'
import { describe, expect, it } from 'vitest'
import { buildRealServer } from './real-server.ts'
import {
  type AnswerPlanCall,
  answerBy,
  OrderFailure,
  type Reply,
  WorkflowServices,
} from './workflow-services.ts'

interface OrderServer extends AsyncDisposable {
  readonly services: WorkflowServices
  start(fields?: object, waitSeconds?: number): Promise<Response>
  get(path: string): Promise<unknown>
  post(path: string, body?: object): Promise<Response>
  /** Waits until the transaction is as the test says. */
  becomes(isReached: (view: TransactionView) => boolean): Promise<TransactionView>
}

/** Opens a server, and the services that its workflow `order` has. */
async function openOrders(
  answer: AnswerPlanCall,
  replies: Readonly<Record<string, Reply>> = {},
  { acceptNewKinds = true, plainIds = false } = {},
): Promise<OrderServer> {
  const folder = await mkdtemp(join(tmpdir(), 'workflow-'))
  const services = await WorkflowServices.open(answer, replies)
  const targets = loopbackTargets()
  const caller = httpBranchCaller({ targets })
  const store = await openSqliteStore({ path: join(folder, 'orders.db') })
  const settings = { acceptNewKinds }
  const server = await buildRealServer(
    (call) => caller.call(call),
    (url) => targets.check(url),
    { store, settings, plainIds },
  )
  const url = await server.app.listen({ host: '127.0.0.1', port: 0 })
  const post = (path: string, body: object = {}, prefer = 'wait=0') =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', prefer },
      body: JSON.stringify(body),
    })
  const get = async (path: string) => (await fetch(`${url}${path}`)).json()
  const order = {
    gid: 'order-1',
    kind: 'workflow',
    workflow: 'order',
    handler: `${services.url}/workflows?tenant=blue`,
  }
  return {
    services,
    start: (fields = {}, waitSeconds = 0) =>
      post('/v1/transactions', { ...order, ...fields }, `wait=${waitSeconds}`),
    get,
    post,
    async becomes(isReached) {
      const read = async () => transactionViewSchema.parse(await get('/v1/transactions/order-1'))
      await expect.poll(async () => isReached(await read()), { timeout: 20_000 }).toBe(true)
      return read()
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await caller.close()
      await services[Symbol.asyncDispose]()
      await rm(folder, { recursive: true })
    },
  }
}

/** Asks the participant for something that it can undo. */
function buy(ctx: PlanContext, origin: string, id: string): Promise<unknown> {
  const url = `${origin}/${id}`
  const compensation = { url: `${url}/undo`, template: { of: { $from: id, at: '/id' } } }
  return ctx.call(id, {
    url,
    hasUndo: true,
    write: () => ({ action: url, payload: { order: ctx.info.gid }, compensation }),
  })
}

interface OrderInput {
  readonly origin: string
}

/** Reserves by a local step, charges and ships, one after the other. */
const placeOrder: WorkflowProgram['run'] = async (ctx, input) => {
  const { origin } = input as OrderInput
  const held = await ctx.step({ name: 'reserve', hasUndo: true, input: { sku: 'A-17' } })
  const charged = await buy(ctx, origin, 'charge')
  const shipped = await buy(ctx, origin, 'ship')
  return { held, charged, shipped }
}

describe('a workflow over HTTP', () => {
  it('Its steps are called as it plans them, and whoever waits gets its result', async () => {
    await using orders = await openOrders(answerBy(placeOrder))
    const { services } = orders
    const answer = await orders.start({ input: { origin: services.url }, name: 'shop' }, 20)
    expect([answer.status, answer.headers.get('preference-applied')]).toEqual([200, 'wait=20'])
    const result = { held: { id: 1 }, charged: { id: 2 }, shipped: { id: 3 } }
    const view = submitViewSchema.parse(await answer.json())
    expect(view).toMatchObject({
      kind: 'workflow',
      status: 'succeeded',
      result,
      workflow: { name: 'order', version: 1, plan: 4, steps: 3 },
      plan: { op: 'plan', url: `${services.url}/workflows`, state: 'succeeded', statusCode: 200 },
      branches: [
        { id: '~1', is: 'step', name: 'reserve', stepId: 'reserve', rank: 1 },
        { id: 'charge', is: 'call', name: `${services.url}/charge`, rank: 2 },
        { id: 'ship', is: 'call', rank: 3 },
      ],
    })
    expect(services.calledSteps).toEqual([
      'workflow action /workflows',
      'saga action /charge',
      'saga action /ship',
    ])
    const { ack: _, ...shown } = view
    expect(await orders.get('/v1/transactions/order-1')).toEqual({
      ...shown,
      updatedAt: expect.any(Number),
    })
    const again = await orders.start({ input: { origin: services.url }, name: 'shop' })
    expect([again.status, submitViewSchema.parse(await again.json()).result]).toEqual([200, result])
  })

  it('It is found in the list by its kind and the name of its function, and shows its requests', async () => {
    await using orders = await openOrders(answerBy(placeOrder))
    await orders.start({ input: { origin: orders.services.url } }, 20)
    const list = async (filter: string) => {
      const page = transactionPageSchema.parse(await orders.get(`/v1/transactions?${filter}`))
      return page.items.map(({ gid, kind: shown }) => `${gid} ${shown}`)
    }
    for (const filter of ['kind=workflow', 'name=order'])
      expect(await list(filter)).toEqual(['order-1 workflow'])
    expect(await list('kind=saga')).toEqual([])
    const request = (await orders.get('/v1/transactions/order-1/request')) as {
      readonly submit: unknown
      readonly ops: readonly { readonly branchId: string; readonly op: string }[]
    }
    expect(request.submit).toMatchObject({ kind: 'workflow', workflow: 'order', grants: 0 })
    expect(request.ops.map(({ branchId, op }) => `${branchId} ${op}`)).toEqual(
      expect.arrayContaining(['00 plan', '~1 action', 'charge action', 'charge compensate']),
    )
  })

  it('When a call is refused and the function lets that fail it, what ran is undone, the last planned first', async () => {
    const declined = JSON.stringify({ code: 'DECLINED', message: 'no money' })
    await using orders = await openOrders(answerBy(placeOrder), { '/ship': { status: 409, body: declined } })
    const answer = await orders.start({ input: { origin: orders.services.url } }, 20)
    const view = submitViewSchema.parse(await answer.json())
    expect(view).toMatchObject({
      status: 'failed',
      abort: { cause: 'workflow-failed', code: 'DECLINED', message: 'no money' },
    })
    expect(view).not.toHaveProperty('result')
    expect(orders.services.calledSteps).toEqual([
      'workflow action /workflows',
      'saga action /charge',
      'saga action /ship',
      'saga compensate /ship/undo',
      'saga compensate /charge/undo',
      'workflow compensate /workflows',
    ])
    const undo = orders.services.calls.find(({ path }) => path === '/charge/undo')
    expect(JSON.parse(undo?.body ?? '')).toEqual({ of: 2 })
  })

  it('A failure of its own turns it around', async () => {
    await using orders = await openOrders(
      answerBy(async (ctx, input) => {
        await buy(ctx, (input as OrderInput).origin, 'charge')
        throw new OrderFailure({ code: 'SOLD_OUT', message: 'there is none left' })
      }),
    )
    const answer = await orders.start({ input: { origin: orders.services.url } }, 20)
    expect(await answer.json()).toMatchObject({ status: 'failed', abort: { code: 'SOLD_OUT' } })
    expect(orders.services.calledSteps).toEqual(['saga action /charge', 'saga compensate /charge/undo'])
  })

  it('A signal over HTTP goes to the wait that it has planned', async () => {
    await using orders = await openOrders(answerBy((ctx) => ctx.signal('approved', 'approval')))
    expect((await orders.start()).status).toBe(202)
    const waiting = await orders.becomes(({ branches }) => branches[0]?.ops[0]?.state === 'open')
    expect(waiting).toMatchObject({
      workflow: { waitsFor: 'any' },
      branches: [{ id: 'approved', is: 'signal', name: 'approval', wait: { signal: 'approval' } }],
    })
    const signal = { id: 'click-8', payload: { by: 'kim' } }
    await orders.post('/v1/transactions/order-1/signals/approval', signal)
    expect(await orders.becomes(({ status }) => status === 'succeeded')).toMatchObject({
      result: { by: 'kim' },
    })
  })

  it('A signal without a payload is not a wait whose time is over', async () => {
    await using orders = await openOrders(
      answerBy(async (ctx) => {
        const signalled = await ctx.signal('approved', 'approval', { timeoutMs: 60_000 })
        return signalled === undefined ? 'too late' : signalled
      }),
    )
    await orders.start()
    await orders.post('/v1/transactions/order-1/signals/approval', { id: 'click-8' })
    expect(await orders.becomes(({ status }) => status === 'succeeded')).toMatchObject({ result: null })
  })

  it('An abort undoes it without asking its code', async () => {
    await using orders = await openOrders(
      answerBy(async (ctx, input) => {
        await buy(ctx, (input as OrderInput).origin, 'charge')
        await ctx.sleep('night', 60_000)
      }),
    )
    await orders.start({ input: { origin: orders.services.url } })
    await orders.becomes(({ branches }) => branches[1]?.ops[0]?.state === 'open')
    const { services } = orders
    services.answerPlan = () => ({ status: 500, body: '' })
    const plans = services.calls.filter(({ op }) => op === 'plan').length
    await orders.post('/v1/transactions/order-1/abort', { reason: 'called off' })
    await orders.becomes(({ status }) => status === 'failed')
    expect(services.calledSteps).toEqual(['saga action /charge', 'saga compensate /charge/undo'])
    expect(services.calls.filter(({ op }) => op === 'plan')).toHaveLength(plans)
  })

  it('Where new kinds are not accepted, it is refused, and nothing is stored', async () => {
    await using orders = await openOrders(answerBy(placeOrder), {}, { acceptNewKinds: false })
    const answer = await orders.start()
    expect(await answer.json()).toMatchObject({ status: 422, code: 'SAGA_KIND_UNSUPPORTED', path: '/kind' })
    expect(await orders.get('/v1/transactions')).toEqual({ items: [] })
  })

  const REFUSED = [
    [{ workflow: 'a b' }, 'SAGA_WORKFLOW_INVALID', '/workflow'],
    [{ version: 0 }, 'SAGA_WORKFLOW_INVALID', '/version'],
    [{ handler: 'https://shop.example/' }, 'SAGA_TARGET_NOT_ALLOWED', '/handler'],
    [{ handler: 'http://127.0.0.1:9001/x?op=plan' }, 'SAGA_URL_INVALID', '/handler'],
    [{ input: 'x'.repeat(256 * 1024) }, 'SAGA_PAYLOAD_TOO_LARGE', '/input'],
    [{ branches: [] }, 'SAGA_UNKNOWN_FIELD', '/branches'],
  ] as const
  for (const [fields, code, path] of REFUSED) {
    it(`A submit with ${path} is refused with ${code} and its place`, async () => {
      await using orders = await openOrders(answerBy(placeOrder))
      const answer = await orders.start(fields)
      expect(await answer.json()).toMatchObject({ status: 422, code, path })
      expect(await orders.get('/v1/transactions')).toEqual({ items: [] })
    })
  }
})

/** Lets the first plan pass, after which the charge is done, and spoils each answer that follows. */
function spoilAfterCharge(spoil: (answer: string) => Reply): AnswerPlanCall {
  const answer = answerBy(placeAfterCharge)
  return async function answerSpoiled(call) {
    const { body } = await answer(call)
    return JSON.parse(call).plan === 1 ? { body } : spoil(body)
  }
}

const placeAfterCharge: WorkflowProgram['run'] = async (ctx, input) => {
  const { origin } = input as OrderInput
  await buy(ctx, origin, 'charge')
  await buy(ctx, origin, 'ship')
  return 'done'
}

function change(answer: string, fields: object): Reply {
  return { body: JSON.stringify({ ...JSON.parse(answer), ...fields }) }
}

it('A refused plan is asked again at once after a retry, without which it would wait for a minute', async () => {
  await using orders = await openOrders(spoilAfterCharge((answer) => change(answer, REFUSAL)))
  const { services } = orders
  await orders.start({ input: { origin: services.url } })
  const refused = await orders.becomes(({ problem }) => problem === 'order plan WORKFLOW_CHANGED')
  expect((refused.plan?.nextAt ?? 0) - refused.updatedAt).toBeGreaterThan(50_000)
  services.answerPlan = answerBy(placeAfterCharge)
  expect((await orders.post('/v1/transactions/order-1/retry')).status).toBe(202)
  await orders.becomes(({ status }) => status === 'succeeded')
})

it('S39: With plain ids a step is not planned under an id that a DTM barrier takes for another', async () => {
  const answer = answerBy((ctx, input) => buy(ctx, (input as OrderInput).origin, 'charge-card'))
  await using orders = await openOrders(answer, {}, { plainIds: true })
  await orders.start({ input: { origin: orders.services.url } })
  const stuck = await orders.becomes(({ problem }) => problem === 'order plan bad-plan')
  expect(stuck.attention).toBe('the plan cannot be carried out: an id of a step must not have a - here')
  expect(orders.services.calledSteps).toEqual([])
})

const PROXY_PAGE: Reply = { contentType: 'text/html', body: '<html>the site is being updated</html>' }
const ELSEWHERE = {
  ...{ id: 'ship', is: 'call', name: 'elsewhere' },
  branch: { action: 'https://elsewhere.example/ship' },
}
const CHANGED = { code: 'WORKFLOW_CHANGED', message: 'charge was a call and is a step' }
const REFUSAL = { next: [], ...Object.fromEntries([['then', { refused: CHANGED }]]) }

describe('a handler whose answer is no plan', () => {
  const BAD: readonly (readonly [string, (answer: string) => Reply, string, string | undefined])[] = [
    ['a page of a proxy', () => PROXY_PAGE, 'order plan bad-plan', 'the answer is not JSON'],
    [
      'a plan for another gid',
      (answer) => change(answer, { gid: 'order-2' }),
      'order plan bad-plan',
      'the answer is for another gid',
    ],
    [
      'a step at a URL that may not be called',
      (answer) => change(answer, { next: [ELSEWHERE] }),
      'order plan bad-plan',
      '/next/0/branch/action',
    ],
    [
      'a refusal of changed code',
      (answer) => change(answer, REFUSAL),
      'order plan WORKFLOW_CHANGED',
      'charge was a call and is a step',
    ],
    ['1.1 MiB', () => ({ body: 'x'.repeat(1.1 * 2 ** 20) }), 'order plan bad-plan', 'is over the bound'],
    ['409, as a gateway may', () => ({ status: 409, body: '' }), 'order plan 409', undefined],
    ['503', () => ({ status: 503, body: '' }), 'order plan 503', undefined],
  ]
  for (const [what, spoil, problem, attention] of BAD) {
    it(`With ${what} it says so and waits, nothing is undone, and it goes on once the handler is right`, async () => {
      await using orders = await openOrders(spoilAfterCharge(spoil))
      const { services } = orders
      const retry = { initialMs: 50, capMs: 200, jitter: 0 }
      await orders.start({ input: { origin: services.url }, retry })
      const stuck = await orders.becomes((view) => view.problem === problem)
      expect(stuck.status).toBe('submitted')
      if (attention !== undefined) expect(stuck.attention).toContain(attention)
      // A list shows what is saved, which comes after what the running node knows.
      const list = async () =>
        ((await orders.get('/v1/transactions?kind=workflow')) as { readonly items: unknown }).items
      await expect
        .poll(list, { timeout: 20_000 })
        .toMatchObject([{ gid: 'order-1', problem, attention: attention !== undefined }])
      const counted = (await orders.get('/v1/problems')) as { readonly items: unknown }
      expect(counted.items).toMatchObject([{ problem, waiting: 1 }])
      expect(services.calledSteps).toEqual(['saga action /charge'])
      services.answerPlan = answerBy(placeAfterCharge)
      const healed = await orders.becomes(({ status }) => status === 'succeeded')
      expect(healed).not.toHaveProperty('attention')
      expect(services.calledSteps).toEqual(['saga action /charge', 'saga action /ship'])
    })
  }
})
