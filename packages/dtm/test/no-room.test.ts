import { until } from '@counterstep/test-servers/until'
import { describe, expect, it } from 'vitest'
import { openDtmFixture, UNTIL_MS_MAX } from './support/dtm-fixture.ts'
import { message, saga, tcc } from './support/requests.ts'

const OK = { status: 200, body: '{"dtm_result":"SUCCESS"}' }

describe('a node whose store is short of room', () => {
  it('A node short of room answers a repeat of what is stored as before, and refuses new transactions', async () => {
    await using dtm = await openDtmFixture()
    const branches = dtm.play()
    const sent = [
      ['submit', saga('saga', branches, 1)],
      ['prepare', tcc('tcc')],
      ['prepare', message('message', [branches.url], { query_prepared: `${branches.url}/query` })],
    ] as const
    for (const [path, body] of sent) expect(await dtm.node.post(path, body)).toEqual(OK)
    await until('the saga has ended', UNTIL_MS_MAX, async () =>
      (await dtm.node.get('query?gid=saga')).body.includes('succeed'),
    )
    dtm.fillDisk()
    for (const [path, body] of sent.slice(1)) expect(await dtm.node.post(path, body)).toEqual(OK)
    // DTM refuses the submit of a saga that has ended.
    const again = await dtm.node.post('submit', saga('saga', branches, 1))
    expect(again).toEqual({ status: 409, body: expect.stringContaining("current status 'succeed'") })
    const fresh = await dtm.node.post('submit', saga('new', branches, 1))
    expect(fresh).toEqual({ status: 500, body: expect.stringContaining('SAGA_STORE_FULL') })
    expect((await dtm.node.get('query?gid=new')).body).toContain('null')
  })
})
