/** A workflow on Lambda: each invocation makes what calls fit, and the next one goes on. */
import type { BranchAnswer, BranchCall } from '@counterstep/core'
import type { PlanCall } from '@counterstep/protocol'
import { expect, it } from 'vitest'
import { Fixture } from './support/fixture.ts'
import { FunctionNode } from './support/function-node.ts'
import { readCode, watched } from './support/sagas.ts'

const ORDER = { gid: 'a', kind: 'workflow', workflow: 'order', handler: 'http://shop.test/workflows' }
const IDS = ['charge', 'pack', 'ship'] as const
const CALL_MS = 3_000

/** Plans one call after the other. */
function answerPlan({ body }: BranchCall): BranchAnswer {
  const { gid, plan, journal } = JSON.parse(body) as PlanCall
  const id = IDS[journal.length]
  const action = `http://${id}.test/`
  const next = id === undefined ? [] : [{ id, is: 'call', name: action, branch: { action } }]
  const end = id === undefined ? { done: journal.length } : 'all'
  const head = { v: 1, gid, version: 1, generation: 1, plan, ran: [], next }
  const answer = { ...head, ...Object.fromEntries([['then', end]]) }
  return { result: 'success', statusCode: 200, body: JSON.stringify(answer) }
}

it('Functions plan a workflow and call its steps, from one invocation to the next, each step once', async () => {
  const fixture = new Fixture()
  fixture.services.otherwise = async (call) => {
    await fixture.time.delay(CALL_MS)
    return call.op === 'plan' ? answerPlan(call) : { result: 'success', statusCode: 200, body: '{}' }
  }
  const api = new FunctionNode(fixture, 'api', { acceptNewKinds: true })
  const submitted = watched(api.engine.during(20_000, () => api.engine.submit(ORDER)))
  await fixture.time.advance(20_000)
  expect(submitted.value?.status).toBe('submitted')
  expect(api.looks).toEqual([{ gid: 'a', dueInMs: 0 }])
  expect(await fixture.row('a')).toMatchObject({ owned: false, status: 'submitted' })
  // No function that only runs what is stored has to accept anything.
  const worker = new FunctionNode(fixture, 'worker')
  for (let looks = 0; looks < 5 && (await fixture.status('a')) !== 'succeeded'; looks++) {
    const looked = watched(worker.look('a', 20_000))
    await fixture.time.advance(20_000)
    expect(looked.isSettled).toBe(true)
  }
  const view = await worker.engine.during(20_000, () => worker.engine.get('a' as never))
  expect(view).toMatchObject({ status: 'succeeded', result: 3, branches: IDS.map((id) => ({ id })) })
  const steps = fixture.services.listCalls('a').filter((call) => !call.endsWith('plan'))
  expect(steps).toEqual(IDS.map((id) => `${id} action`))
})

it('A function accepts none unless its settings say so', async () => {
  const fixture = new Fixture()
  const api = new FunctionNode(fixture, 'api', { acceptNewKinds: false })
  const refused = api.engine.during(20_000, () => api.engine.submit(ORDER))
  expect(await readCode(refused)).toBe('SAGA_KIND_UNSUPPORTED')
  expect(await fixture.rows()).toBe(0)
})
