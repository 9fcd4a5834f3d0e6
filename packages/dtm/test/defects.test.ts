/** These tests show the behaviour here where DTM v1.19 is wrong. They have the numbers of its list of known weaknesses. */

import { until } from '@counterstep/test-servers/until'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DtmFixture, type DtmNode, openDtmFixture, UNTIL_MS_MAX } from './support/dtm-fixture.ts'
import { listPaths, message, saga, tcc, tccBranch } from './support/requests.ts'

const OK = { status: 200, body: '{"dtm_result":"SUCCESS"}' }
const LATER = { status: 425, body: '{"dtm_result":"ONGOING"}' }

async function readStatus(node: DtmNode, gid: string): Promise<string | undefined> {
  const { body } = await node.get(`query?gid=${gid}`)
  return JSON.parse(body).transaction?.status
}

async function untilStatus(dtm: DtmFixture, gid: string, status: string): Promise<void> {
  await until(`${gid} is ${status}`, UNTIL_MS_MAX, async () => (await readStatus(dtm.node, gid)) === status)
}

describe.concurrent('the known weaknesses of DTM', () => {
  let dtm: DtmFixture
  beforeAll(async () => {
    dtm = await openDtmFixture()
  })
  afterAll(() => dtm[Symbol.asyncDispose]())

  it('9.1: Five submits of a running saga call no finished branch again', async () => {
    const branches = dtm.play({ '/a3': [LATER, LATER, LATER, LATER, LATER, LATER, OK] })
    const body = saga('resubmitted', branches, 3, { retry_interval: 100 })
    expect(await dtm.node.post('submit', body)).toEqual(OK)
    await branches.waitForCalls(3)
    for (let times = 0; times < 5; times++) {
      await until('the answer is known', UNTIL_MS_MAX, async () => {
        const view = await dtm.node.engine.get('resubmitted' as never)
        return view?.branches[2]?.ops[0]?.state === 'waiting'
      })
      expect(await dtm.node.post('submit', body)).toEqual(OK)
      await branches.waitForCalls(4 + times)
    }
    expect(listPaths(branches).filter((path) => path !== '/a3')).toEqual(['/a1', '/a2'])
  })

  it('A submit of a saga that an operator has paused is answered, and calls nothing', async () => {
    const branches = dtm.play({ '/a1': [LATER] })
    const body = saga('paused', branches, 1, { retry_interval: 100 })
    expect(await dtm.node.post('submit', body)).toEqual(OK)
    await branches.waitForCalls(1)
    await dtm.node.engine.pause(
      'paused' as never,
      {},
      {
        by: { via: 'api' },
        reason: 'the service is being repaired',
      },
    )
    const calls = listPaths(branches).length
    expect(await dtm.node.post('submit', body)).toEqual(OK)
    expect(listPaths(branches)).toHaveLength(calls)
  })

  it('9.1: A running saga under the same gid and other content is refused, and not as a failure', async () => {
    const branches = dtm.play({ '/a1': [LATER] })
    expect(await dtm.node.post('submit', saga('taken', branches, 1))).toEqual(OK)
    const other = await dtm.node.post('submit', saga('taken', branches, 2))
    expect(other.status).toBe(500)
    expect(other.body).toContain('other content')
  })

  it('9.2: An action that takes longer than the interval is called once', async () => {
    const branches = dtm.play({ '/a1': [{ ...OK, delayMs: 3_000 }] })
    const body = saga('slow', branches, 1, { retry_interval: 1, request_timeout: 5, wait_result: true })
    expect(await dtm.node.post('submit', body)).toEqual(OK)
    expect(listPaths(branches)).toEqual(['/a1'])
  })

  it('9.3: Steps that take over 5 s together do not wait for a poll', async () => {
    const slow = [{ ...OK, delayMs: 2_000 }]
    const branches = dtm.play({ '/a1': slow, '/a2': slow, '/a3': slow })
    const startedAt = performance.now()
    expect(
      await dtm.node.post('submit', saga('long', branches, 3, { wait_result: true, request_timeout: 9 })),
    ).toEqual(OK)
    expect(performance.now() - startedAt).toBeLessThan(7_900)
  })

  it('A saga whose last action succeeds after timeout_to_fail succeeds, as in DTM', async () => {
    const branches = dtm.play({ '/a2': [{ ...OK, delayMs: 2_000 }] })
    const times = { timeout_to_fail: 1, request_timeout: 6, wait_result: true }
    expect(await dtm.node.post('submit', saga('last-is-late', branches, 2, times))).toEqual(OK)
    expect(listPaths(branches)).toEqual(['/a1', '/a2'])
  })

  it('9.7: The next time is shown as it is while it waits, and as now after a reset', async () => {
    const branches = dtm.play({ '/a1': [{ status: 500 }, { ...OK, delayMs: 60_000, hangUp: true }] })
    await dtm.node.post('submit', saga('shown', branches, 1, { retry_interval: 1_000 }))
    const shown = async () => JSON.parse((await dtm.node.get('query?gid=shown')).body).transaction
    const untilNextS = async () => (Date.parse((await shown()).next_cron_time) - Date.now()) / 1_000
    await until('it waits', UNTIL_MS_MAX, async () => (await untilNextS()) > 900)
    expect((await shown()).next_cron_interval).toBe(1_000)
    expect(await dtm.node.post('resetNextCronTime', { gid: 'shown' })).toEqual(OK)
    // This holds whether the branch is called already or not.
    expect(await untilNextS()).toBeLessThan(1)
    await branches.waitForCalls(2)
    expect(await untilNextS()).toBeLessThan(1)
  })

  it('9.4: Forty due sagas whose branch takes a second are done side by side', async () => {
    const played = Array.from({ length: 40 }, () => dtm.play({ '/a1': [LATER, { ...OK, delayMs: 1_000 }] }))
    for (const [position, branches] of played.entries())
      await dtm.node.post('submit', saga(`due-${position}`, branches, 1, { retry_interval: 1 }))
    const startedAt = performance.now()
    for (const position of played.keys()) await untilStatus(dtm, `due-${position}`, 'succeed')
    expect(performance.now() - startedAt).toBeLessThan(15_000)
  })

  it('9.7: The command resetNextCronTime calls a waiting branch, on this store as on every other', async () => {
    const branches = dtm.play({ '/a1': [LATER, OK] })
    await dtm.node.post('submit', saga('waiting', branches, 1, { retry_interval: 1_000 }))
    await branches.waitForCalls(1)
    await until('it waits', UNTIL_MS_MAX, async () => {
      const view = await dtm.node.engine.get('waiting' as never)
      return view?.branches[0]?.ops[0]?.state === 'waiting'
    })
    expect(await dtm.node.post('resetNextCronTime', { gid: 'waiting' })).toEqual(OK)
    await untilStatus(dtm, 'waiting', 'succeed')
  })

  it('9.8: The branches of order-1 and order-10 do not mix', async () => {
    const branches = dtm.play({ '/c1': [{ status: 500 }] })
    const one = saga('order-1', branches, 2, { wait_result: true })
    const ten = saga('order-10', branches, 5, { wait_result: true })
    expect(await dtm.node.post('submit', one)).toEqual(OK)
    expect(await dtm.node.post('submit', ten)).toEqual(OK)
    for (const [gid, rows] of [
      ['order-1', 4],
      ['order-10', 10],
    ] as const) {
      const { branches: shown } = JSON.parse((await dtm.node.get(`query?gid=${gid}`)).body)
      expect(shown.map((row: { readonly gid: string }) => row.gid)).toEqual(Array(rows).fill(gid))
    }
  })

  it('9.13: A branch that is registered again is there once, and with other content it is refused', async () => {
    const branches = dtm.play()
    await dtm.node.post('prepare', tcc('twice'))
    const branch = tccBranch('twice', branches, '01')
    expect(await dtm.node.post('registerBranch', branch)).toEqual(OK)
    expect(await dtm.node.post('registerBranch', branch)).toEqual(OK)
    const other = await dtm.node.post('registerBranch', { ...branch, data: '{"other":1}' })
    expect(other).toEqual({ status: 500, body: '{"message":"storage: UniqueKeyConflict"}' })
    expect(await dtm.node.post('submit', tcc('twice', { wait_result: true }))).toEqual(OK)
    expect(listPaths(branches)).toEqual(['/confirm01'])
  })

  it('9.14: A long answer of a failing branch hinders no rollback, and long data is not cut', async () => {
    const branches = dtm.play({ '/a2': [{ status: 409, body: 'x'.repeat(3_000) }] })
    const custom_data = JSON.stringify({ concurrent: false, note: 'y'.repeat(3_000) })
    const body = saga('long-reason', branches, 2, { custom_data, wait_result: true })
    const answer = await dtm.node.post('submit', body)
    expect(answer.status).toBe(409)
    expect(answer.body).toContain('return failed: xxx')
    expect(listPaths(branches)).toEqual(['/a1', '/a2', '/c2', '/c1'])
    const { transaction } = JSON.parse((await dtm.node.get('query?gid=long-reason')).body)
    expect(transaction).toMatchObject({ status: 'failed', custom_data })
  })

  it('9.15: A wait that ends before the transaction answers neither success nor failure', async () => {
    const branches = dtm.play({ '/a1': [LATER] })
    const body = saga('goes-on', branches, 1, { wait_result: true, request_timeout: 1 })
    expect(await dtm.node.post('submit', body)).toEqual({
      status: 425,
      body: '{"dtm_result":"ONGOING","message":"ONGOING"}',
    })
    expect(await readStatus(dtm.node, 'goes-on')).toBe('submitted')
  })

  it('9.17: An abort keeps its reason, and a stop is recorded as a stop', async () => {
    await dtm.node.post('prepare', message('dropped', [''], { query_prepared: 'http://127.0.0.1:9/q' }))
    const abort = { gid: 'dropped', trans_type: 'msg', rollback_reason: 'no stock' }
    expect(await dtm.node.post('abort', abort)).toEqual(OK)
    const { transaction } = JSON.parse((await dtm.node.get('query?gid=dropped')).body)
    expect(transaction).toMatchObject({ status: 'failed', rollback_reason: 'no stock' })
    const branches = dtm.play({ '/a2': [LATER] })
    await dtm.node.post('submit', saga('stopped', branches, 2))
    await branches.waitForCalls(2)
    expect(await dtm.node.post('forceStop', { gid: 'stopped' })).toEqual(OK)
    expect(await readStatus(dtm.node, 'stopped')).toBe('failed')
    expect(await dtm.node.engine.get('stopped' as never)).toMatchObject({ status: 'stopped' })
  })

  it('9.18: A TCC that is submitted again goes on until its confirm has succeeded', async () => {
    const branches = dtm.play({ '/confirm01': [LATER, LATER, OK] })
    await dtm.node.post('prepare', tcc('again', { retry_interval: 1 }))
    await dtm.node.post('registerBranch', tccBranch('again', branches, '01'))
    expect(await dtm.node.post('submit', tcc('again'))).toEqual(OK)
    await branches.waitForCalls(1)
    expect(await dtm.node.post('submit', tcc('again'))).toEqual(OK)
    await untilStatus(dtm, 'again', 'succeed')
    expect(branches.calls).toHaveLength(3)
  })

  it.each(['submit', 'abort'])(
    'A client that repeats its %s takes no mark off a transaction that needs a person',
    async (command) => {
      const gid = `needs-a-person-${command}`
      const refused = { status: 409, body: '' }
      const branches = dtm.play({ '/confirm01': [refused, OK], '/cancel01': [refused, OK] })
      await dtm.node.post('prepare', tcc(gid, { retry_interval: 600 }))
      await dtm.node.post('registerBranch', tccBranch(gid, branches, '01'))
      expect(await dtm.node.post(command, tcc(gid))).toEqual(OK)
      const readMark = async () => (await dtm.node.engine.get(gid as never))?.attention
      await until('it needs a person', UNTIL_MS_MAX, async () => (await readMark()) !== undefined)
      expect(await dtm.node.post(command, tcc(gid))).toEqual(OK)
      expect([await readMark(), branches.calls.length]).toEqual([expect.any(String), 1])
      // An operator takes it off.
      expect(await dtm.node.post('resetNextCronTime', { gid })).toEqual(OK)
      await branches.waitForCalls(2)
    },
  )

  it('9.19, 9.23: A stop during a call is not undone by its answer, and no further branch is called', async () => {
    const branches = dtm.play({ '/a1': [{ ...OK, delayMs: 500 }] })
    await dtm.node.post('submit', saga('stopped-inside', branches, 5))
    await branches.waitForCalls(1)
    expect(await dtm.node.post('forceStop', { gid: 'stopped-inside' })).toEqual(OK)
    // Another saga whose answer takes longer ends first.
    const clock = dtm.play({ '/a1': [{ ...OK, delayMs: 700 }] })
    await dtm.node.post('submit', saga('clock', clock, 1, { wait_result: true }))
    expect(await readStatus(dtm.node, 'stopped-inside')).toBe('failed')
    expect(listPaths(branches)).toEqual(['/a1'])
  })

  it('9.20: An abort under another type is refused', async () => {
    await dtm.node.post('prepare', tcc('mine'))
    expect((await dtm.node.post('abort', { gid: 'mine', trans_type: 'msg' })).status).toBe(409)
    expect(await readStatus(dtm.node, 'mine')).toBe('prepared')
  })

  it('9.21: An empty gid is refused and stores nothing', async () => {
    const branches = dtm.play()
    const answer = await dtm.node.post('submit', saga('', branches, 1, { wait_result: true }))
    expect(answer.status).toBe(422)
    expect(branches.calls).toEqual([])
  })

  it('9.21: A second abort in the same second is answered like the first', async () => {
    const branches = dtm.play({ '/cancel01': [LATER] })
    await dtm.node.post('prepare', tcc('aborted-twice'))
    await dtm.node.post('registerBranch', tccBranch('aborted-twice', branches, '01'))
    const abort = { gid: 'aborted-twice', trans_type: 'tcc' }
    const answers = await Promise.all([dtm.node.post('abort', abort), dtm.node.post('abort', abort)])
    expect([...answers, await dtm.node.post('abort', abort)]).toEqual([OK, OK, OK])
    expect(await readStatus(dtm.node, 'aborted-twice')).toBe('aborting')
  })

  it('9.22: An order in a circle or with a missing step stores nothing', async () => {
    const branches = dtm.play()
    for (const orders of ['{"0":[1],"1":[0]}', '{"1":[7]}', '{"7":[0]}', '{"0":[0]}', '[]', '{"x":[0]}']) {
      const custom_data = `{"concurrent":true,"orders":${orders}}`
      const answer = await dtm.node.post('submit', saga('ordered', branches, 2, { custom_data }))
      expect([orders, answer.status]).toEqual([orders, 500])
      expect(answer.body).toContain('custom_data')
    }
    expect(await readStatus(dtm.node, 'ordered')).toBeUndefined()
  })
})

describe.concurrent('the known weaknesses of DTM over a restart or a crowd', () => {
  it('9.6: The retry_limit counts for one action alone, and survives a restart', async () => {
    await using dtm = await openDtmFixture()
    const branches = dtm.play({ '/a1': [{ status: 500 }, OK], '/a2': [{ status: 500 }] })
    const body = saga('limited', branches, 2, { retry_limit: 2, retry_interval: 1 })
    expect(await dtm.node.post('submit', body)).toEqual(OK)
    // The one failure of a1 does not count for a2.
    await branches.waitForCalls(3)
    await until('the answer of a2 is known', UNTIL_MS_MAX, async () => {
      const view = await dtm.node.engine.get('limited' as never)
      return view?.branches[1]?.ops[0]?.state === 'waiting'
    })
    await dtm.restart()
    await untilStatus(dtm, 'limited', 'failed')
    expect(listPaths(branches)).toEqual(['/a1', '/a1', '/a2', '/a2', '/a2', '/c2', '/c1'])
    const { transaction } = JSON.parse((await dtm.node.get('query?gid=limited')).body)
    expect(transaction.rollback_reason).toBe('RetryCount is greater than RetryLimit, RetryLimit: 2')
  })

  it('9.8: After a restart order-1 goes on with all of its branches beside order-10', async () => {
    await using dtm = await openDtmFixture()
    const branches = dtm.play({ '/a1': [LATER, LATER, OK] })
    await dtm.node.post('submit', saga('order-1', branches, 2, { retry_interval: 1 }))
    await dtm.node.post('submit', saga('order-10', branches, 2, { retry_interval: 1 }))
    await branches.waitForCalls(2)
    await dtm.restart()
    for (const gid of ['order-1', 'order-10']) await untilStatus(dtm, gid, 'succeed')
    expect(listPaths(branches).toSorted()).toEqual(['/a1', '/a1', '/a1', '/a1', '/a2', '/a2'])
  })

  it('9.21: Pages of any size show each transaction once', async () => {
    await using dtm = await openDtmFixture()
    const gids = Array.from({ length: 40 }, (_, position) => `paged-${position}`)
    for (const gid of gids) await dtm.node.post('prepare', tcc(gid))
    for (const limit of [1, 7, 40, 100]) {
      const seen: string[] = []
      let position = ''
      do {
        const { body } = await dtm.node.get(`all?limit=${limit}&position=${position}`)
        const page = JSON.parse(body)
        seen.push(...page.transactions.map(({ gid }: { readonly gid: string }) => gid))
        position = page.next_position
      } while (position !== '')
      expect(seen.toSorted()).toEqual(gids.toSorted())
    }
  })

  it('9.5: Ten failing branches share no growing interval, and each waits at most a minute', async () => {
    await using dtm = await openDtmFixture()
    const branches = dtm.play(
      Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`/a${i + 1}`, [{ status: 500 }]])),
    )
    const body = saga('failing', branches, 10, { custom_data: '{"concurrent":true}', retry_interval: 2 })
    await dtm.node.post('submit', body)
    await branches.waitForCalls(10)
    await until('all answers are known', UNTIL_MS_MAX, async () => {
      const view = await dtm.node.engine.get('failing' as never)
      return view?.branches.every(({ ops }) => ops[0]?.state === 'waiting') === true
    })
    const { transaction } = JSON.parse((await dtm.node.get('query?gid=failing')).body)
    expect(transaction.next_cron_interval).toBe(2)
    expect(Date.parse(transaction.next_cron_time) - Date.now()).toBeLessThan(4_000)
  })
})
