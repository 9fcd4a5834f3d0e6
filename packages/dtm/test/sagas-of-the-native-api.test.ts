/** The dialect shows and commands sagas that only the native API can submit: with waits, a pivot and a retriable. */
import type { Gid } from '@counterstep/protocol'
import { expect, it } from 'vitest'
import { openDtmFixture } from './support/dtm-fixture.ts'

interface Branch {
  readonly branch_id: string
  readonly op: string
  readonly status: string
  readonly url?: string
}

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
