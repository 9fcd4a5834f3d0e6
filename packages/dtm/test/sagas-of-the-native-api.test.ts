/** The dialect shows and commands what only the native API can submit: sagas with waits, a pivot and a retriable, and workflows. */
import type { Gid } from '@counterstep/protocol'
import { expect, it } from 'vitest'
import { openDtmFixture } from './support/dtm-fixture.ts'

interface Branch {
  readonly branch_id: string
  readonly op: string
  readonly status: string
  readonly url?: string
}

const GID = 'planned' as Gid

/** Answers a plan: a call, and a wait for a signal. */
function writePlan(action: string): string {
  const charge = { id: 'charge', is: 'call', name: action, branch: { action, payload: { cents: 5 } } }
  const approved = {
    id: 'approved',
    is: 'signal',
    name: 'approval',
    branch: { wait: { signal: 'approval' } },
  }
  const head = {
    v: 1,
    gid: GID,
    version: 1,
    generation: 1,
    plan: 1,
    ran: [{ id: 'quote', is: 'run', name: 'quote', value: 4 }],
  }
  return JSON.stringify({ ...head, next: [charge, approved], ...Object.fromEntries([['then', 'any']]) })
}

it('The dialect shows a workflow with the steps of its code, refuses to abort or submit it, and stops it', async () => {
  await using dtm = await openDtmFixture()
  const { node, play } = dtm
  const answers: { status: number; body: string }[] = []
  const services = play({ '/workflows': answers, '/pay': [{ status: 500 }] })
  const pay = `${services.url}/pay`
  answers.push({ status: 503, body: '' }, { status: 200, body: writePlan(pay) })
  await node.engine.submit({
    gid: GID,
    kind: 'workflow',
    workflow: 'order',
    handler: `${services.url}/workflows`,
  })
  await services.waitForCalls(3)
  const { transaction, branches } = JSON.parse((await node.get(`query?gid=${GID}`)).body)
  expect(transaction).toMatchObject({ gid: GID, trans_type: 'workflow', status: 'submitted' })
  expect(branches.map(({ branch_id, op, status }: Branch) => `${branch_id} ${op} ${status}`)).toEqual([
    'quote compensate prepared',
    'quote action succeed',
    'charge compensate prepared',
    'charge action prepared',
    'approved compensate prepared',
    'approved action prepared',
  ])
  expect(JSON.parse((await node.get('all')).body).transactions).toMatchObject([{ gid: GID }])
  const saga = { gid: GID, trans_type: 'saga', steps: [{ action: pay }], payloads: ['{}'] }
  expect((await node.post('submit', saga)).status).not.toBe(200)
  for (const trans_type of ['saga', 'workflow'])
    expect((await node.post('abort', { gid: GID, trans_type })).status).not.toBe(200)
  expect((await node.engine.get(GID))?.status).toBe('submitted')
  expect(await node.post('forceStop', { gid: GID, trans_type: 'workflow' })).toMatchObject({ status: 200 })
  expect((await node.engine.get(GID))?.status).toBe('stopped')
})

it('The dialect shows a saga that waits, refuses its abort after the pivot may have been called, and stops it', async () => {
  await using dtm = await openDtmFixture()
  const { node, play } = dtm
  const services = play({ '/pay': [{ status: 500 }] })
  const gid = 'waits' as Gid
  await node.engine.submit({
    gid,
    branches: [
      { id: 'approved', wait: { signal: 'approval' } },
      { id: 'pay', action: `${services.url}/pay`, role: 'pivot' },
      { id: 'mail', action: `${services.url}/mail`, role: 'retriable' },
    ],
  })
  const query = async () => JSON.parse((await node.get(`query?gid=${gid}`)).body)
  const findAction = async (id: string): Promise<Branch | undefined> => {
    const { branches } = (await query()) as { readonly branches: readonly Branch[] }
    return branches.find((branch) => branch.branch_id === id && branch.op === 'action')
  }
  const waiting = await findAction('approved')
  expect(waiting).toMatchObject({ status: 'prepared' })
  expect(waiting).not.toHaveProperty('url')
  await node.engine.signal(gid, 'approval', { id: 'click-1' })
  await services.waitForCalls(1)
  expect(await findAction('approved')).toMatchObject({ status: 'succeed' })
  const abort = await node.post('abort', { gid, trans_type: 'saga' })
  expect(abort).toMatchObject({ status: 409, body: expect.stringContaining('cannot abort') })
  expect(await node.post('forceStop', { gid, trans_type: 'saga' })).toMatchObject({ status: 200 })
  expect((await node.engine.get(gid))?.status).toBe('stopped')
})
