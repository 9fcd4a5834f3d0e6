import { loopbackTargets, targetPolicy } from '@counterstep/branch-http/targets'
import { describe, expect, it } from 'vitest'
import { checkOldDtm } from '../src/check/index.ts'
import type { CheckRules } from '../src/check/judge-transaction.ts'
import type { OldBranch, OldTransaction } from '../src/check/old-dtm.ts'
import { openDtmFixture } from './support/dtm-fixture.ts'
import { message, saga, tcc, tccBranch } from './support/requests.ts'

const ANY = targetPolicy({ services: [], allowed: [], others: 'any', isLocal: true })
const NO_PROGRESS = { limit: 1_000, onProgress: () => undefined }

function buildRules(policy = ANY, plainIds = false): CheckRules {
  return { checkUrl: (url) => policy.check(url), checkGrpc: (url) => policy.checkGrpc(url), plainIds }
}

const base64 = (text: string) => Buffer.from(text).toString('base64')

function stepRows(url: string, id = '01', payload = '{}'): readonly OldBranch[] {
  return ['compensate', 'action'].map((op) => ({ branch_id: id, op, url, bin_data: base64(payload) }))
}

/** Judges one transaction as DTM would show it. */
async function judge(transaction: OldTransaction, branches: readonly OldBranch[], rules = buildRules()) {
  const get = async (path: string) => {
    if (path.startsWith('/all')) return { next_position: '', transactions: [{ gid: 'g', ...transaction }] }
    return path.startsWith('/query') ? { branches } : { kv: [], next_position: '' }
  }
  const { refusals, needs } = await checkOldDtm(get, rules, NO_PROGRESS)
  return { refusals: refusals.map(({ text }) => text), needs: needs.map(({ text }) => text) }
}

describe('the check of a running DTM', () => {
  const URL = 'http://bank.test/x'
  const taken: readonly (readonly [OldTransaction, readonly OldBranch[]])[] = [
    [{ trans_type: 'saga', options: '{"concurrent":false}' }, stepRows(URL)],
    [{ trans_type: 'msg', query_prepared: URL }, [{ branch_id: '01', op: 'action', url: URL }]],
    [{ trans_type: 'tcc' }, [{ branch_id: '01', op: 'confirm', url: URL, bin_data: base64('{}') }]],
    [{ trans_type: 'xa' }, [{ branch_id: '01', op: 'commit', url: URL }]],
    [{ trans_type: 'saga', protocol: 'grpc' }, stepRows('bank.test:1/a.B/C')],
    [
      { trans_type: 'workflow', query_prepared: URL, custom_data: '{"name":"n"}' },
      [{ branch_id: '01', op: 'action', status: 'succeed' }],
    ],
  ]
  it.each(taken)('It has nothing to say about what would be taken: %j', async (transaction, branches) => {
    expect((await judge(transaction, branches)).refusals).toEqual([])
  })

  const refused: readonly (readonly [string, OldTransaction, readonly OldBranch[]])[] = [
    ['gid must be', { trans_type: 'saga', gid: 'ä' }, stepRows(URL)],
    ['branch_id must be', { trans_type: 'tcc' }, [{ branch_id: 'a b', op: 'confirm', url: URL }]],
    ['file://: branches other than http', { trans_type: 'saga' }, stepRows('file:///x')],
    ['custom_data', { trans_type: 'saga', custom_data: '{' }, stepRows(URL)],
    [
      'orders wait in a circle',
      { trans_type: 'saga', custom_data: '{"concurrent":true,"orders":{"0":[0]}}' },
      stepRows(URL),
    ],
    ['a payload is over', { trans_type: 'saga' }, stepRows(URL, '01', `"${'x'.repeat(300_000)}"`)],
    ['branch_headers', { trans_type: 'saga', options: '{"branch_headers":{"cookie":"x"}}' }, stepRows(URL)],
    ['parameter "method"', { trans_type: 'saga', protocol: 'json-rpc' }, stepRows('http://bank.test/method')],
    ['its options are not JSON', { trans_type: 'saga', options: '{' }, stepRows(URL)],
    ['an unknown trans_type', { trans_type: 'other' }, []],
    ['a workflow has no name', { trans_type: 'workflow', query_prepared: URL }, []],
  ]
  it.each(refused)('It says what would be refused: %s', async (text, transaction, branches) => {
    expect((await judge(transaction, branches)).refusals).toEqual([expect.stringContaining(text)])
  })

  it('It judges by the list of targets and by plain ids, and names the host without its login', async () => {
    const rows = stepRows('http://user:secret@bank.test/x?token=1')
    const { refusals } = await judge({ trans_type: 'saga' }, rows, buildRules(loopbackTargets()))
    expect(refusals).toEqual([expect.stringMatching(/^http:\/\/bank\.test: /)])
    expect(JSON.stringify(refusals)).not.toContain('secret')
    const plain = await judge({ trans_type: 'saga', gid: 'ORDER' }, stepRows(URL), buildRules(ANY, true))
    expect(plain.refusals).toEqual(['an id must not have capital letters here'])
  })

  it('It says what the server has to be started with', async () => {
    const grpc = await judge({ trans_type: 'saga', protocol: 'grpc' }, stepRows('bank.test:1/a.B/C'))
    expect(grpc.needs).toEqual(['--accept-new-kinds', '--dtm-grpc-port'])
    const jsonRpc = await judge({ trans_type: 'saga', protocol: 'json-rpc' }, stepRows(URL))
    expect(jsonRpc.needs).toEqual(['--accept-new-kinds'])
    expect((await judge({ trans_type: 'xa' }, [])).needs).toEqual(['--accept-new-kinds'])
    expect((await judge({ trans_type: 'tcc' }, [])).needs).toEqual([])
  })

  it('It reads all pages and the topics of a server that speaks the dialect, and finds what was planted', async () => {
    await using dtm = await openDtmFixture()
    const branches = dtm.play()
    for (let number = 0; number < 5; number++)
      await dtm.node.post('submit', saga(`s-${number}`, branches, 2, { wait_result: true }))
    await dtm.node.post('prepare', tcc('t'))
    await dtm.node.post('registerBranch', tccBranch('t', branches, '01'))
    await dtm.node.get(`subscribe?topic=orders&url=${encodeURIComponent(`${branches.url}/orders`)}`)
    await dtm.node.post('submit', message('m', ['topic://orders'], { wait_result: true }))
    const { app } = dtm.node
    const seen: number[] = []
    const get = async (path: string) =>
      (await app.inject({ url: `/api/dtmsvr${path.replace('limit=100', 'limit=2')}` })).json()
    const report = await checkOldDtm(get, buildRules(loopbackTargets()), {
      limit: 1_000,
      onProgress: (count) => seen.push(count),
    })
    expect(report).toMatchObject({ transactions: 7, topics: 1, isCut: false, refusals: [] })
    expect(report.unfinished).toMatchObject({ count: 1, example: 't' })
    expect(report.hosts).toEqual([
      { text: new globalThis.URL(branches.url).origin, count: 8, example: expect.anything() },
    ])
    expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7])
    const strict = targetPolicy({ services: [], allowed: [], others: 'none', isLocal: false })
    const judged = await checkOldDtm(get, buildRules(strict), NO_PROGRESS)
    expect(judged.refusals).toEqual([expect.objectContaining({ count: 8 })])
    expect(await checkOldDtm(get, buildRules(), { ...NO_PROGRESS, limit: 3 })).toMatchObject({
      transactions: 3,
      isCut: true,
    })
  })
})
