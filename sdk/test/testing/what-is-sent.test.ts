import { setImmediate as tick } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  type BranchCheckName,
  type BranchReport,
  checkBranch,
  type SentCall,
} from '../../src/testing/index.ts'
import { Wallet, walletUnderTest } from './wallet.ts'

interface Arrival {
  readonly query: URLSearchParams
  readonly headers: Headers
  readonly method: string
  readonly path: string
  readonly body: string
  /** These are the `gid op` of the calls that were under way when it came, its own included. */
  readonly underWay: readonly string[]
}

const WIDTH = 6
const ROUNDS = 3

/**
 * These tests read the calls that reached the service, as the service wrote them down. A report that only claims its
 * calls would be found out.
 */
describe('what the test kit sends', () => {
  const arrivals: Arrival[] = []
  let report: BranchReport

  beforeAll(async () => {
    const wallet = new Wallet()
    const underWay: string[] = []
    const fetch = async (request: Request) => {
      const { pathname, searchParams: query } = new URL(request.url)
      const key = `${query.get('gid')} ${query.get('op')}`
      underWay.push(key)
      const { method, headers } = request
      const arrival = { query, headers, method, path: pathname, body: '', underWay: [...underWay] }
      arrivals.push(arrival)
      arrival.body = await request.clone().text()
      // All calls that were sent at once have come before the first of them is served.
      await tick()
      const answer = await wallet.fetch(request)
      underWay.splice(underWay.indexOf(key), 1)
      return answer
    }
    const branch = walletUnderTest(wallet)
    report = await checkBranch({
      ...branch,
      service: { fetch },
      headers: { authorization: 'Bearer of-a-test' },
    })
    expect(report.violations).toEqual([])
  })

  const listCalls = (name: BranchCheckName): SentCall[] =>
    (report.checks.find((check) => check.name === name)?.evidence ?? []).filter(
      (step) => step.step === 'call',
    )
  /** Lists the ops of each gid in order, without the tidying up at the end. */
  const listSequences = (name: BranchCheckName): string[] => {
    const evidence = report.checks.find((check) => check.name === name)?.evidence ?? []
    const tidiedAt = evidence.findIndex((step) => step.step === 'did' && step.what === 'tidies up')
    const sequences = new Map<string, string[]>()
    for (const step of tidiedAt < 0 ? evidence : evidence.slice(0, tidiedAt)) {
      if (step.step !== 'call') continue
      sequences.set(step.gid, [...(sequences.get(step.gid) ?? []), `${step.op}=${step.answer?.statusCode}`])
    }
    return [...sequences.values()].map((sequence) => sequence.join(' '))
  }
  const listArrivals = (calls: readonly SentCall[]) =>
    arrivals.filter(({ query }) => calls.some(({ gid }) => query.get('gid') === gid))

  it('The test kit sends exactly what its report says, in that order', () => {
    const claimed = report.checks.flatMap(({ evidence }) => evidence.filter((step) => step.step === 'call'))
    expect(claimed.map(({ url, body }) => `${new URL(url).search} ${body}`)).toEqual(
      arrivals.map(({ query, body }) => `${query.size === 0 ? '' : `?${query}`} ${body}`),
    )
  })

  it('The test kit sends what the orchestrator sends: query, headers and payload', () => {
    const [first] = arrivals
    expect([first?.method, first?.path, first?.body]).toEqual(['POST', '/pay', '{"cents":100}'])
    expect([...(first?.query.keys() ?? [])]).toEqual(['gid', 'trans_type', 'branch_id', 'op'])
    for (const { headers } of arrivals) {
      expect(headers.get('content-type')).toBe('application/json')
      expect(headers.get('authorization')).toBe('Bearer of-a-test')
      expect(headers.get('counterstep-epoch')).toBe('1')
      expect(Number(headers.get('counterstep-accepted-at'))).toBeGreaterThan(Date.now() - 600_000)
    }
    const duplicate = listArrivals(listCalls('duplicates')).map(({ headers }) =>
      headers.get('counterstep-attempt'),
    )
    expect(duplicate).toEqual(['1', '2', '3', '1', '2', '3'])
  })

  const SEQUENCES: readonly (readonly [BranchCheckName, readonly string[]])[] = [
    ['one-action-and-its-compensation', ['action=200 compensate=200']],
    ['two-gids', ['action=200', 'action=200']],
    ['duplicates', ['action=200 action=200 action=200 compensate=200 compensate=200 compensate=200']],
    ['compensation-first', ['compensate=200 compensate=200']],
    [
      'action-after-compensation',
      ['compensate=200 action=409 action=409', 'action=200 compensate=200 action=409'],
    ],
    ['two-branches', ['action=200 compensate=200 action=200 action=200']],
    ['refusal', ['action=409 action=409 compensate=200']],
    ['payloads', ['action=200', 'compensate=200', 'compensate=200']],
    ['broken-payload', Array(5).fill('action=500 action=500')],
    ['outage', ['action=500 action=200']],
    ['spent', ['action=200 compensate=200']],
    ['drained', ['action=200 action=200 compensate=200', 'action=409']],
  ]
  for (const [name, sequences] of SEQUENCES) {
    it(`The check ${name} sends the calls that it is described by, for each gid`, () =>
      expect(listSequences(name)).toEqual(sequences))
  }

  it('The test kit drains the service, and lets it break down, between the calls where its report says so', () => {
    const listSteps = (name: BranchCheckName) =>
      report.checks
        .find((check) => check.name === name)
        ?.evidence.flatMap((step) =>
          step.step === 'did' ? [step.what] : step.step === 'call' ? [step.op] : [],
        )
    expect(listSteps('spent')).toEqual(['action', 'spend', 'compensate'])
    expect(listSteps('drained')).toEqual(['action', 'drain', 'action', 'action', 'compensate'])
    expect(listSteps('outage')).toEqual([
      'outage begins',
      'action',
      'outage ends',
      'action',
      'tidies up',
      'compensate',
    ])
  })

  it('The test kit has all duplicates of a round under way at once', () => {
    const calls = listCalls('concurrent-duplicates')
    expect(calls).toHaveLength(ROUNDS * 2 * WIDTH)
    const widest = listArrivals(calls).map(({ underWay, query }) => {
      const key = `${query.get('gid')} ${query.get('op')}`
      return underWay.filter((each) => each === key).length
    })
    expect(widest.filter((count) => count === WIDTH)).toHaveLength(ROUNDS * 2)
  })

  it('The test kit has action and compensation of one gid under way at once, and each first in half the rounds', () => {
    const races = new Map<string, string[]>()
    for (const { query, underWay } of listArrivals(listCalls('action-against-compensation'))) {
      const gid = query.get('gid') ?? ''
      if (underWay.length === 2)
        races.set(
          gid,
          underWay.map((key) => key.split(' ')[1] ?? ''),
        )
    }
    const orders = [...races.values()].map((order) => order.join(' '))
    expect(orders.filter((order) => order === 'action compensate')).toHaveLength(ROUNDS)
    expect(orders.filter((order) => order === 'compensate action')).toHaveLength(ROUNDS)
  })

  it('The test kit sends two gids that differ in one capital letter, and three branches of one gid', () => {
    const [small, capital] = [...new Set(listCalls('two-gids').map(({ gid }) => gid))]
    expect([small === capital, small?.toLowerCase() === capital?.toLowerCase()]).toEqual([false, true])
    const branches = listCalls('two-branches').map(({ gid, branchId }) => `${gid} ${branchId}`)
    const gid = branches[0]?.split(' ')[0]
    expect([...new Set(branches)]).toEqual([`${gid} 01`, `${gid} 02`, `${gid} 03`])
  })

  it('The test kit sends parameters that are missing, empty, repeated and wrong, on both URLs', () => {
    const garbage = listCalls('garbage').map(({ url }) => new URL(url))
    for (const path of ['/pay', '/refund']) {
      const queries = garbage
        .filter(({ pathname }) => pathname === path)
        .map(({ searchParams }) => searchParams)
      expect(queries).toHaveLength(7)
      expect(queries.filter((query) => query.size === 0)).toHaveLength(1)
      for (const name of ['gid', 'branch_id', 'op']) {
        expect(queries.filter((query) => query.size === 3 && !query.has(name))).toHaveLength(1)
      }
      expect(queries.filter((query) => query.get('gid') === '')).toHaveLength(1)
      expect(queries.filter((query) => query.getAll('gid').length === 2)).toHaveLength(1)
      expect(queries.filter((query) => query.get('op') === 'fly')).toHaveLength(1)
    }
  })

  it('The test kit leaves the account as it was, but for the drain', () => {
    const states = report.checks.flatMap(({ evidence: [first] }) =>
      first?.step === 'read' ? [first.state] : [],
    )
    expect(states).toEqual(Array(11).fill('10000'))
  })
})
