import { loopbackTargets, type NamedService, targetPolicy } from '@counterstep/branch-http/targets'
import { describe, expect, it } from 'vitest'
import { type DtmFixture, type DtmNode, openDtmFixture, type Targets } from './support/dtm-fixture.ts'
import { message, tcc } from './support/requests.ts'

const OK = { status: 200, body: '{"dtm_result":"SUCCESS"}' }
const UNLISTED_DENIED = {
  status: 500,
  body: expect.stringMatching(/^\{"message":"SAGA_TARGET_NOT_ALLOWED: /),
}
/** This mutant checks nothing at submit. Calls are still checked, so that no test dials another machine. */
const UNCHECKED: Targets = { policy: loopbackTargets(), check: () => undefined }
/** The first is not listed, the second is denied by its address, and the third is no service. */
const UNLISTED = ['http://bank.test/x', 'http://169.254.169.254/latest', 'other:/x']

function buildSaga(gid: string, step: object) {
  return { gid, trans_type: 'saga', steps: [step], payloads: ['{}'] }
}

/** Some parser could take the query of each of these for the identity of a call (S39). */
const FORGING = [
  '?[gid]=victim&[trans_type]=saga&[branch_id]=debit&[op]=compensate',
  '?GID=victim',
  '?branch%2Eid=debit',
  `?${'&'.repeat(1_001)}`,
].map((query) => `http://127.0.0.1:1/x${query}`)
const FORGED = { status: 500, body: expect.stringMatching(/^\{"message":"a branch URL must not have /) }

/** Tries each URL in every place where a URL is accepted. */
async function expectAllDenied(
  { node }: Pick<DtmFixture, 'node'>,
  urls = UNLISTED,
  DENIED: object = UNLISTED_DENIED,
): Promise<void> {
  const good = 'http://127.0.0.1:1/x'
  for (const [at, url] of urls.entries()) {
    const gid = (what: string) => `${what}-${at}`
    expect(await node.post('submit', buildSaga(gid('action'), { action: url }))).toEqual(DENIED)
    const undo = { action: good, compensate: url }
    expect(await node.post('submit', buildSaga(gid('undo'), undo))).toEqual(DENIED)
    expect(await node.post('submit', message(gid('message'), [url]))).toEqual(DENIED)
    const asked = { query_prepared: url }
    expect(await node.post('prepare', message(gid('query-back'), [good], asked))).toEqual(DENIED)
    expect(await node.post('prepare', tcc(gid('tcc')))).toEqual(OK)
    for (const urls of [
      { confirm: url, cancel: good },
      { confirm: good, cancel: url },
    ]) {
      const branch = { gid: gid('tcc'), trans_type: 'tcc', branch_id: '01', data: '{}', ...urls }
      expect(await node.post('registerBranch', branch)).toEqual(DENIED)
    }
    expect(await node.get(`subscribe?topic=t${at}&url=${encodeURIComponent(url)}`)).toEqual(DENIED)
    for (const what of ['action', 'undo', 'message', 'query-back'])
      expect(await isStored(node, gid(what))).toBe(false)
    expect((await node.engine.get(gid('tcc') as never))?.branches).toEqual([])
  }
}

function buildTargets(services: readonly NamedService[]): Targets {
  const policy = targetPolicy({ services, allowed: [], others: 'none', isLocal: true })
  return { policy, check: (url) => policy.check(url) }
}

async function isStored(node: DtmNode, gid: string): Promise<boolean> {
  return (await node.engine.get(gid as never)) !== undefined
}

describe("S1: a target of DTM's clients", () => {
  it('A target that is not allowed is refused by its code, wherever it stands, and nothing is stored', async () => {
    await using dtm = await openDtmFixture()
    await expectAllDenied(dtm)
  })

  it('Mutant: without the rules, the test of targets that are not allowed fails', async () => {
    await using dtm = await openDtmFixture(UNCHECKED)
    await expect(expectAllDenied(dtm)).rejects.toThrow()
  })

  it('S39: A target whose query may pass for the identity of a call is refused, wherever it stands', async () => {
    await using dtm = await openDtmFixture()
    await expectAllDenied(dtm, FORGING, FORGED)
  })

  it('S39: A target with a body or a header that may pass for the identity of a call is refused', async () => {
    await using dtm = await openDtmFixture()
    const form = 'application/x-www-form-urlencoded'
    const victim = 'gid=victim&trans_type=saga&branch_id=debit&op=compensate'
    const step = { action: 'http://127.0.0.1:1/x' }
    for (const [at, [payload, headers]] of (
      [
        [victim, { 'Content-Type': form }],
        ['a=1&[op]=compensate', { 'content-type': `${form};charset=UTF-8` }],
        ['{}', { 'Content-Type': 'application/json; charset=utf-16be' }],
        ['{}', { 'dtm-gid': 'victim' }],
        ['{}', { counterstep_op: 'compensate' }],
      ] as const
    ).entries()) {
      const saga = {
        gid: `body-${at}`,
        trans_type: 'saga',
        steps: [step],
        payloads: [payload],
        branch_headers: headers,
      }
      const answer = await dtm.node.post('submit', saga)
      expect([answer.status, answer.body]).toEqual([
        500,
        expect.stringMatching(/must|is not sent to a branch/),
      ])
      expect(await isStored(dtm.node, `body-${at}`)).toBe(false)
    }
    expect(await dtm.node.post('prepare', tcc('form', { branch_headers: { 'Content-Type': form } }))).toEqual(
      OK,
    )
    const branch = { gid: 'form', trans_type: 'tcc', branch_id: '01', data: victim }
    const urls = { confirm: step.action, cancel: step.action }
    expect((await dtm.node.post('registerBranch', { ...branch, ...urls })).status).toBe(500)
  })

  it('S39: Mutant: without the rules, the test of such queries fails', async () => {
    await using dtm = await openDtmFixture(UNCHECKED)
    await expect(expectAllDenied(dtm, FORGING, FORGED)).rejects.toThrow()
  })

  it('S39: A target that was subscribed before such queries were refused is refused when a message is sent to it', async () => {
    await using dtm = await openDtmFixture(UNCHECKED)
    await dtm.node.get(`subscribe?topic=orders&url=${encodeURIComponent(FORGING[0] ?? '')}`)
    const policy = loopbackTargets()
    const checked = await dtm.restart({ policy, check: (url) => policy.check(url) })
    expect(await checked.post('submit', message('late', ['topic://orders']))).toEqual(FORGED)
    expect(await isStored(checked, 'late')).toBe(false)
  })

  it('A target that was subscribed while it was allowed is refused when it no longer is', async () => {
    await using dtm = await openDtmFixture(UNCHECKED)
    await dtm.node.get(`subscribe?topic=orders&url=${encodeURIComponent('http://bank.test/x')}`)
    const narrowed = await dtm.restart(buildTargets([]))
    expect(await narrowed.post('submit', message('late', ['topic://orders']))).toEqual(UNLISTED_DENIED)
    expect(await isStored(narrowed, 'late')).toBe(false)
  })

  it('A target may be a named service', async () => {
    await using dtm = await openDtmFixture()
    const branches = dtm.play()
    const { origin, hostname, pathname } = new URL(`${branches.url}/api`)
    const service = { name: 'bank', origin, hostname, base: pathname }
    const named = await dtm.restart(buildTargets([service]))
    const request = { ...buildSaga('named', { action: 'bank:/debit?x=1' }), wait_result: true }
    expect(await named.post('submit', request)).toEqual(OK)
    expect(branches.calls.map(({ target }) => target)).toEqual([
      expect.stringMatching(/^\/api\/debit\?gid=named&.*&x=1$/),
    ])
    expect(await named.post('submit', buildSaga('by-url', { action: `${branches.url}/debit` }))).toEqual(
      UNLISTED_DENIED,
    )
  })
})
