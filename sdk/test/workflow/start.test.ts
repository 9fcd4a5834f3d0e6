import { describe, expect, expectTypeOf, it } from 'vitest'
import type { Barrier } from '../../src/barrier/barrier.ts'
import {
  type Client,
  createClient,
  type EndedWorkflow,
  isRefused,
  type StartView,
  type TransactionView,
  workflow,
} from '../../src/index.ts'
import { problem, type Reply, scriptedServer } from '../scripted-server.ts'

const barrier: Barrier<object> = { run: async () => ({ decision: 'run' }) }
const order = workflow('order', { version: 3, barrier, steps: [] }, async (_ctx, input: { sku: string }) => ({
  id: input.sku.length,
}))
const plain = workflow('plain', { version: 1 }, async () => 'done')
const VIEW = { gid: 'order-17', kind: 'workflow', status: 'succeeded', branches: [], result: { id: 3 } }
const HANDLER = 'http://shop.test/workflows'

describe('the start of a workflow', () => {
  it('It is sent as a submit of its kind, and answered with what the function has returned', async () => {
    await using server = await scriptedServer([{ status: 200, body: VIEW }])
    const client = createClient({ url: server.url })
    const settings = { gid: 'order-17', handler: HANDLER, input: { sku: 'cup' }, deadlineMs: 60_000 }
    const started = await client.start(order, settings, { waitMs: 1_000 })
    expect(started.result?.id).toBe(3)
    const [seen] = server.seen
    expect([seen?.url, seen?.headers.prefer]).toEqual(['/v1/transactions', 'wait=1'])
    expect(JSON.parse(seen?.body ?? '')).toEqual({
      ...settings,
      kind: 'workflow',
      workflow: 'order',
      version: 3,
      grants: 8,
    })
  })

  it('Without a barrier it asks for no grant, and a lost answer is asked for again with the same gid', async () => {
    const viewByGid: Reply = ({ body }) => ({ status: 200, body: { ...VIEW, gid: JSON.parse(body).gid } })
    await using server = await scriptedServer(['cut', viewByGid])
    await createClient({ url: server.url }).start(plain, { handler: HANDLER })
    const bodies = server.seen.map(({ body }) => JSON.parse(body))
    expect(bodies).toEqual([bodies[0], bodies[0]])
    expect(bodies[0]).toEqual({
      gid: expect.any(String),
      handler: HANDLER,
      kind: 'workflow',
      workflow: 'plain',
      grants: 0,
    })
  })

  it('A server that does not accept workflows says so', async () => {
    const faults = [{ code: 'SAGA_KIND_UNSUPPORTED', path: '/kind', message: 'must be one of saga' }]
    await using server = await scriptedServer([problem(422, 'SAGA_KIND_UNSUPPORTED', { faults })])
    const error = await createClient({ url: server.url })
      .start(plain, { handler: HANDLER })
      .catch((each: unknown) => each)
    expect(isRefused(error) && [error.code, error.faults]).toEqual(['SAGA_KIND_UNSUPPORTED', faults])
  })
})

describe('the wait for a workflow', () => {
  const ENDED = { ...VIEW, workflow: { name: 'order', version: 3, generation: 1, plan: 2 } }

  it('It resolves with the result of the function', async () => {
    await using server = await scriptedServer([{ status: 200, body: ENDED }])
    const { result } = await createClient({ url: server.url }).wait('order-17', { workflow: order })
    expect(result?.id).toBe(3)
  })

  it.each([
    [ENDED, 'order-17 runs the workflow order, and not the workflow plain'],
    [{ ...VIEW, kind: 'saga' }, 'order-17 is a saga, and not the workflow plain'],
  ])('It says so if something else was started under the gid (%#)', async (body, message) => {
    await using server = await scriptedServer([{ status: 200, body }])
    const waited = createClient({ url: server.url }).wait('order-17', { workflow: plain })
    await expect(waited).rejects.toThrow(new TypeError(message))
  })
})

/** The compiler checks it, and it never runs. */
async function check(client: Client): Promise<void> {
  const settings = { handler: HANDLER, input: { sku: 'cup' } }
  expectTypeOf(await client.start(order, settings)).toEqualTypeOf<StartView<{ id: number }>>()
  expectTypeOf((await client.start(plain, { handler: HANDLER })).result).toEqualTypeOf<string | undefined>()
  expectTypeOf(await client.wait('a', { workflow: order })).toEqualTypeOf<EndedWorkflow<{ id: number }>>()
  expectTypeOf(await client.wait('a')).toEqualTypeOf<TransactionView>()
  // @ts-expect-error The input has another type.
  await client.start(order, { handler: HANDLER, input: { sku: 7 } })
  // @ts-expect-error The input is missing.
  await client.start(order, { handler: HANDLER })
  // @ts-expect-error The handler is missing.
  await client.start(order, { input: { sku: 'cup' } })
  // @ts-expect-error This is no workflow.
  await client.start({ name: 'order' }, settings)
}

it('The types of the input and of the result are those of the function', () => {
  expect(check).toBeTypeOf('function')
})
