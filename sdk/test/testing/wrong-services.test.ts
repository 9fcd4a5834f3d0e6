import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import {
  BRANCH_RULES,
  type BranchReport,
  type BranchUnderTest,
  checkBranch,
} from '../../src/testing/index.ts'
import { CODE_OF, type Fault, LINGER_MS, Wallet, walletUnderTest } from './wallet.ts'

const FAULTS = Object.keys(CODE_OF) as Fault[]
/** These are the six services of the issue. */
const SIX: readonly Fault[] = [
  'runs duplicates',
  'runs the undo of nothing',
  'forgets a null compensation',
  'commits its barrier before the effect',
  'swallows errors',
  'asks the business before the barrier',
]

function listCodes({ violations }: BranchReport): string[] {
  return [...new Set(violations.map(({ code }) => code))]
}

async function reportOn(fault: Fault | undefined, without: readonly (keyof BranchUnderTest)[] = []) {
  const isForgetful = fault === 'forgets what it did a while ago'
  const branch = walletUnderTest(new Wallet(fault))
  const entries = Object.entries(isForgetful ? { ...branch, lingerMs: LINGER_MS } : branch)
  const given = entries.filter(([name]) => !without.includes(name as keyof BranchUnderTest))
  return checkBranch(Object.fromEntries(given) as unknown as BranchUnderTest)
}

/** Makes a listener for Node's own server of what answers like fetch. */
function createListener(fetch: (request: Request) => Promise<Response>) {
  return async (request: IncomingMessage, response: ServerResponse) => {
    const { method = 'GET', url = '/' } = request
    const mark = request.headers['counterstep-undo']
    const headers = mark === undefined ? {} : { 'counterstep-undo': String(mark) }
    const given = { method, headers, body: await text(request) }
    const answer = await fetch(new Request(`http://wallet.test${url}`, given))
    response.writeHead(answer.status).end(await answer.text())
  }
}

describe('the test kit on a hand-written service', () => {
  it('The test kit finds no fault in a right service, and skips no check', async () => {
    const report = await checkBranch({ ...walletUnderTest(new Wallet()), lingerMs: LINGER_MS })
    expect(report.violations).toEqual([])
    expect(report.checks.map(({ outcome }) => outcome)).toEqual(Array(17).fill('passed'))
    expect(report.ok).toBe(true)
  })

  for (const fault of FAULTS) {
    it(`The test kit finds by its own rule alone a service that ${fault}`, async () => {
      const report = await reportOn(fault)
      expect(listCodes(report)).toEqual([CODE_OF[fault]])
      expect(report.ok).toBe(false)
      expect(report.checks.filter(({ outcome }) => outcome === 'undecided')).toEqual([])
      for (const { rule, code, found, evidence } of report.violations) {
        expect(rule).toBe(BRANCH_RULES[code])
        expect(found).not.toBe('')
        expect(evidence.some(({ step }) => step === 'call')).toBe(true)
      }
    })
  }

  for (const [what, fault, outcomes] of [
    ['An undo that leaves a debt passes', undefined, ['passed']],
    ['An undo that the business refuses is found', 'lets the business refuse an undo', ['broken']],
  ] as const) {
    it(`${what} when what the action brought is spent`, async () => {
      const wallet = new Wallet(fault)
      // It pays in, which no business refuses.
      const { drain, refusedPayload, ...branch } = walletUnderTest(wallet)
      const report = await checkBranch({ ...branch, payload: { cents: -100 }, spend: () => wallet.drain() })
      expect(listCodes(report)).toEqual(fault === undefined ? [] : [CODE_OF[fault]])
      const spent = report.checks.filter(({ name }) => name === 'spent')
      expect(spent.map(({ outcome }) => outcome)).toEqual(outcomes)
    })
  }

  it('Every rule of the test kit has a wrong service that breaks it', () => {
    expect(new Set(Object.values(CODE_OF))).toEqual(new Set(Object.keys(BRANCH_RULES)))
  })

  for (const fault of SIX.filter((each) => each !== 'asks the business before the barrier')) {
    it(`The test kit finds a service that ${fault} where neither a refusal nor a drain nor an outage is given`, async () => {
      const report = await reportOn(fault, ['refusedPayload', 'drain', 'outage'])
      expect(listCodes(report)).toEqual([CODE_OF[fault]])
    })
  }

  for (const kept of ['refusedPayload', 'drain', 'outage'] as const) {
    it(`The test kit finds a barrier in another transaction by ${kept} as well`, async () => {
      const others = (['refusedPayload', 'drain', 'outage'] as const).filter((name) => name !== kept)
      const { violations } = await reportOn('commits its barrier before the effect', others)
      const check = kept === 'refusedPayload' ? 'refusal' : kept === 'drain' ? 'drained' : 'outage'
      expect(violations.map((violation) => violation.check)).toContain(check)
    })
  }

  for (const fault of SIX) {
    it(`The test kit finds a service that ${fault} by the rows of each gid, which no compensation takes away`, async () => {
      const wallet = new Wallet(fault)
      const report = await checkBranch({
        ...walletUnderTest(wallet),
        read: ({ gid }) => wallet.readLedger(gid),
      })
      expect(listCodes(report)).toEqual([CODE_OF[fault]])
    })

    it(`The test kit finds over HTTP a service that ${fault}`, async () => {
      const wallet = new Wallet(fault)
      const listener = createListener(wallet.fetch)
      const report = await checkBranch({ ...walletUnderTest(wallet), service: { listener } })
      expect(listCodes(report)).toEqual([CODE_OF[fault]])
    })
  }

  it('The test kit finds a service that forgets what it did a while ago over HTTP by a duplicate that comes late', async () => {
    const newBranch = () => {
      const wallet = new Wallet('forgets what it did a while ago')
      return { ...walletUnderTest(wallet), service: { listener: createListener(wallet.fetch) } }
    }
    expect((await checkBranch(newBranch())).violations).toEqual([])
    const { violations } = await checkBranch({ ...newBranch(), lingerMs: LINGER_MS })
    expect(violations.map(({ code, check }) => [code, check])).toEqual([
      ['DUPLICATE_RAN_TWICE', 'late-duplicates'],
    ])
  })

  for (const [kind, read] of [
    ['the rows of each gid', (wallet, gid) => wallet.readLedger(gid)],
    ['a status, in which nothing can be counted', (wallet, gid) => wallet.readLedger(gid).at(-1)?.op],
    ['a decimal text', (wallet) => (wallet.cents / 100).toFixed(2)],
    ['much at once', (wallet, gid) => ({ id: gid, cents: wallet.cents, rows: wallet.readLedger(gid) })],
  ] satisfies [string, (wallet: Wallet, gid: string) => unknown][]) {
    it(`The test kit finds no fault in a right service that is read by ${kind}`, async () => {
      const wallet = new Wallet()
      const branch = { ...walletUnderTest(wallet), read: ({ gid }: { gid: string }) => read(wallet, gid) }
      const report = await checkBranch(branch)
      expect(report.violations).toEqual([])
      expect(report.ok).toBe(true)
    })
  }

  it('The test kit names each fault of a service without any barrier, and skips what builds on it', async () => {
    let cents = 10_000
    const fetch = async (request: Request) => {
      const query = new URL(request.url).searchParams
      if (!query.has('gid') || query.getAll('gid').length > 1) return new Response('', { status: 400 })
      const body: unknown = await request.json().catch(() => null)
      const sent = Number((body as { cents?: unknown } | null)?.cents)
      if (!Number.isInteger(sent)) return new Response('', { status: 500 })
      const delta = query.get('op') === 'action' ? -sent : sent
      if (cents + delta < 0) return new Response('', { status: 409 })
      cents += delta
      return new Response('')
    }
    const report = await checkBranch({
      service: { fetch },
      action: '/pay',
      compensation: '/refund',
      payload: { cents: 100 },
      refusedPayload: { cents: 1_000_000 },
      read: () => cents,
      attemptsMax: 1,
      settleMs: 50,
    })
    expect(listCodes(report)).toEqual([
      'DUPLICATE_RAN_TWICE',
      'COMPENSATION_WITHOUT_ACTION',
      'GARBAGE_ANSWERED',
    ])
    const skipped = report.checks.filter(({ outcome }) => outcome === 'skipped')
    expect(skipped.map(({ name, because }) => [name, because])).toEqual([
      ['concurrent-duplicates', 'duplicates did not pass (DUPLICATE_RAN_TWICE)'],
      ['action-after-compensation', 'compensation-first did not pass (COMPENSATION_WITHOUT_ACTION)'],
      ['action-against-compensation', 'duplicates did not pass (DUPLICATE_RAN_TWICE)'],
      ['two-branches', 'duplicates did not pass (DUPLICATE_RAN_TWICE)'],
      ['kept-refusal', 'isPivot was not given'],
      ['payloads', 'compensation-first did not pass (COMPENSATION_WITHOUT_ACTION)'],
      ['outage', 'no outage was given'],
      ['late-duplicates', 'no lingerMs was given'],
      ['spent', 'no spend was given'],
      ['drained', 'no drain was given'],
    ])
  })
})
