/** `query` and `all` never show the queries of URLs or the values of branch headers, whichever caller asks. */
import { describe, expect, it } from 'vitest'
import type { PlayedBranches } from './support/branch-service.ts'
import { type DtmFixture, openDtmFixture } from './support/dtm-fixture.ts'

const OK = { status: 200, body: '{"dtm_result":"SUCCESS"}' }
const SECRET = 'hunter2'
const HEADERS = {
  branch_headers: { Authorization: `Bearer ${SECRET}`, 'x-KEY': SECRET, 'Content-Type': `text/${SECRET}` },
}

/** Stores one transaction of each kind, with the secret in every place of a URL and of headers that the kind has. */
async function storeAll({ node, play }: DtmFixture): Promise<readonly string[]> {
  const branches = play({ '/fails': [{ status: 409, body: 'no' }] })
  const url = secretUrl(branches)
  const saga = (gid: string, action: string) => ({
    gid,
    trans_type: 'saga',
    steps: [{ action: url('a'), compensate: url('c') }, { action }],
    payloads: ['{}', '{}'],
    wait_result: true,
    ...HEADERS,
  })
  expect(await node.post('submit', saga('saga', url('b')))).toEqual(OK)
  expect((await node.post('submit', saga('failed', url('fails')))).status).toBe(409)
  const tcc = { gid: 'tcc', trans_type: 'tcc', ...HEADERS }
  await node.post('prepare', tcc)
  const branch = { branch_id: '01', data: '{}', confirm: url('confirm'), cancel: url('cancel') }
  expect(await node.post('registerBranch', { gid: 'tcc', trans_type: 'tcc', ...branch })).toEqual(OK)
  await node.get(`subscribe?topic=orders&url=${encodeURIComponent(url('topic'))}`)
  const steps = [{ action: url('in') }, { action: 'topic://orders' }]
  const message = { trans_type: 'msg', steps, payloads: ['{}', '{}'], query_prepared: url('q'), ...HEADERS }
  expect(await node.post('prepare', { gid: 'message', ...message })).toEqual(OK)
  return ['saga', 'failed', 'tcc', 'message']
}

/** Each URL has a second `?`, which a parser would not take for the first. */
function secretUrl({ url }: PlayedBranches) {
  return (path: string) => `${url}/${path}?token=${SECRET}&again=?${SECRET}`
}

function expectHidden(text: string): void {
  expect(text).not.toContain(SECRET)
}

describe('S43: what query and all show', () => {
  it('Neither query nor all shows the queries of URLs and the values of headers', async () => {
    await using dtm = await openDtmFixture()
    const { node } = dtm
    const gids = await storeAll(dtm)
    for (const gid of gids)
      for (const path of ['query', 'all']) expectHidden((await node.get(`${path}?gid=${gid}`)).body)
    expectHidden((await node.get('all')).body)
    const { body: reason } = await node.get('query?gid=failed')
    expect(JSON.parse(reason).transaction.rollback_reason).toMatch(
      /^url:http:\/\/[^?]+\/fails return failed: no FAILURE$/,
    )
  })

  it('The answer of query keeps its shape, and the names of the headers', async () => {
    await using dtm = await openDtmFixture()
    await storeAll(dtm)
    const { transaction, branches } = JSON.parse((await dtm.node.get('query?gid=message')).body)
    const shown = { Authorization: '***', 'Content-Type': '***', 'x-KEY': '***' }
    expect(JSON.parse(transaction.options)).toEqual({ branch_headers: shown, concurrent: false })
    expect(transaction.query_prepared).toMatch(/\/q$/)
    expect(branches.map(({ url }: { readonly url: string }) => url.split('/').at(-1))).toEqual([
      'in',
      'topic',
    ])
  })

  it('Mutant: the same check finds the secrets in what is stored, which branches are still called with', async () => {
    await using dtm = await openDtmFixture()
    const gids = await storeAll(dtm)
    for (const gid of gids) {
      const stored = await dtm.node.engine.read(gid as never)
      expect(() => expectHidden(JSON.stringify(stored))).toThrow()
    }
  })
})
