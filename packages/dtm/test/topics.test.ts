import { until } from '@counterstep/test-servers/until'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TOPICS_AGE_MS_MAX } from '../src/index.ts'
import { type DtmFixture, openDtmFixture, UNTIL_MS_MAX } from './support/dtm-fixture.ts'
import { listPaths, message } from './support/requests.ts'

const OK = { status: 200, body: '{"dtm_result":"SUCCESS"}' }
const NOT_FOUND = { status: 500, body: '{"message":"topic not found"}' }

/** These tests show what is done here in place of 9.11 and 9.21 of DTM's known weaknesses. */
describe('a topic', () => {
  let dtm: DtmFixture
  beforeEach(async () => {
    dtm = await openDtmFixture()
  })
  afterEach(() => dtm[Symbol.asyncDispose]())

  const send = (gid: string, more: object = {}) =>
    message(gid, ['topic://orders'], { wait_result: true, ...more })

  it('A topic is used at once by the node that changed it, and gone at once when it is deleted', async () => {
    const branches = dtm.play()
    await dtm.node.get(`subscribe?topic=orders&url=${branches.url}/one`)
    expect(await dtm.node.post('submit', send('first'))).toEqual(OK)
    await dtm.node.app.inject({ method: 'DELETE', url: '/api/dtmsvr/topic/orders' })
    expect(await dtm.node.post('submit', send('second'))).toEqual(NOT_FOUND)
    expect(listPaths(branches)).toEqual(['/one'])
  })

  it('A topic that was deleted and is made again has its new subscribers, though its version is lower', async () => {
    const branches = dtm.play()
    for (const path of ['one', 'two', 'three'])
      await dtm.node.get(`subscribe?topic=orders&url=${branches.url}/${path}`)
    expect(await dtm.node.post('submit', send('first'))).toEqual(OK)
    await dtm.node.app.inject({ method: 'DELETE', url: '/api/dtmsvr/topic/orders' })
    await dtm.node.get(`subscribe?topic=orders&url=${branches.url}/new`)
    expect(await dtm.node.post('submit', send('second'))).toEqual(OK)
    expect(listPaths(branches)).toEqual(['/one', '/two', '/three', '/new'])
  })

  it('A topic is known to another node at once when it is new, and within a second when it has changed', async () => {
    const branches = dtm.play()
    const other = await dtm.startSecond()
    expect(await other.post('submit', send('too-early'))).toEqual(NOT_FOUND)
    await dtm.node.get(`subscribe?topic=orders&url=${branches.url}/one`)
    expect(await other.post('submit', send('new'))).toEqual(OK)
    await dtm.node.get(`unsubscribe?topic=orders&url=${branches.url}/one`)
    const changedAt = performance.now()
    let count = 0
    await until('the change is seen', UNTIL_MS_MAX, async () => {
      const answer = await other.post('submit', send(`changed-${count++}`))
      return answer.body === NOT_FOUND.body
    })
    expect(performance.now() - changedAt).toBeLessThan(TOPICS_AGE_MS_MAX + 1_000)
  })

  it('A topic loses no subscriber when many subscribe at once', async () => {
    const other = await dtm.startSecond()
    const urls = Array.from({ length: 12 }, (_, position) => `http://127.0.0.1/s${position}`)
    const answers = await Promise.all(
      urls.map((url, position) =>
        (position % 2 === 0 ? dtm.node : other).get(`subscribe?topic=orders&url=${url}`),
      ),
    )
    expect(answers).toEqual(urls.map(() => OK))
    const again = await Promise.all(urls.map((url) => dtm.node.get(`subscribe?topic=orders&url=${url}`)))
    expect(again.map(({ body }) => body)).toEqual(urls.map(() => '{"message":"this url exists"}'))
  })

  it('A topic is found beside hundreds of transactions', async () => {
    const branches = dtm.play()
    const gids = Array.from({ length: 200 }, (_, position) => `t${position}`)
    await Promise.all(gids.map((gid) => dtm.node.post('prepare', { gid, trans_type: 'tcc' })))
    await dtm.node.get(`subscribe?topic=orders&url=${branches.url}/one`)
    expect(await dtm.node.post('submit', send('crowd'))).toEqual(OK)
  })

  it('A topic takes no subscriber that could never be called', async () => {
    const grpc = await dtm.node.get('subscribe?topic=orders&url=localhost:58080/busi.Busi/TransIn')
    expect(grpc.status).toBe(501)
    const { status } = await dtm.node.get('subscribe?topic=%00&url=http://127.0.0.1/x')
    expect(status).toBe(500)
  })
})
