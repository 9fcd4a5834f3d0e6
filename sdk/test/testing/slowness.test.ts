import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { assertBranch, BranchRulesBrokenError, checkBranch } from '../../src/testing/index.ts'
import { Wallet, walletUnderTest } from './wallet.ts'

/** Runs one call after the other, as behind a lock. */
function serialised<Result>(serve: (request: Request) => Promise<Result>, eachMs: number) {
  let last: Promise<unknown> = Promise.resolve()
  return (request: Request): Promise<Result> => {
    const served = last.then(() => sleep(eachMs)).then(() => serve(request))
    last = served.catch((error: unknown) => error)
    return served
  }
}

describe.concurrent('the test kit and time', () => {
  it('The test kit finds no fault in a right service that takes 300 ms for a call, and one call at a time', async () => {
    const wallet = new Wallet()
    const startedAt = performance.now()
    const report = await checkBranch({
      ...walletUnderTest(wallet),
      rounds: 1,
      service: { fetch: serialised(wallet.fetch, 300) },
    })
    expect(report.violations).toEqual([])
    expect(report.checks.map(({ outcome }) => outcome)).toEqual([
      ...Array(14).fill('passed'),
      'skipped',
      'passed',
      'passed',
    ])
    const calls = report.checks.flatMap(({ evidence }) => evidence.filter(({ step }) => step === 'call'))
    // A timer may be a millisecond early.
    expect(performance.now() - startedAt).toBeGreaterThan(calls.length * 299)
  }, 120_000)

  it('The test kit finds no fault where an effect is seen later than its answer', async () => {
    const wallet = new Wallet()
    let shown = wallet.cents
    const read = () => {
      const { cents } = wallet
      // This reader is behind by one look.
      const seen = shown
      shown = cents
      return seen
    }
    const report = await checkBranch({ ...walletUnderTest(wallet), read })
    expect(report.violations).toEqual([])
    expect(report.ok).toBe(true)
  }, 120_000)

  it('The test kit finds no fault where effects are seen late after the first two', async () => {
    const wallet = new Wallet()
    const lagMs = 60
    const history = [{ cents: wallet.cents, shownAt: 0 }]
    const fetch = async (request: Request) => {
      const answer = await wallet.fetch(request)
      if (answer.status !== 200 || history.at(-1)?.cents === wallet.cents) return answer
      // The first action and its compensation are seen at once.
      const shownAt = performance.now() + (history.length > 2 ? lagMs : 0)
      history.push({ cents: wallet.cents, shownAt })
      return answer
    }
    const read = () => history.findLast(({ shownAt }) => shownAt <= performance.now())?.cents
    const { drain, ...branch } = walletUnderTest(wallet)
    const report = await checkBranch({ ...branch, service: { fetch }, read })
    expect(report.violations).toEqual([])
    expect(report.ok).toBe(true)
  }, 120_000)

  it('The test kit finds no fault where it is itself held up for longer than an effect may take', async () => {
    const wallet = new Wallet()
    const settleMs = 20
    let shown = wallet.cents
    const read = async () => {
      const seen = shown
      shown = wallet.cents
      if (seen !== shown) await sleep(2 * settleMs)
      return seen
    }
    const report = await checkBranch({ ...walletUnderTest(wallet), settleMs, read })
    expect(report.violations).toEqual([])
    expect(report.ok).toBe(true)
  }, 120_000)

  it('The test kit finds no fault in a call that is answered 425, 429 or 5xx at times, and served when it is asked again', async () => {
    const wallet = new Wallet()
    let calls = 0
    const fetch = async (request: Request) => {
      calls++
      const statuses = [425, 429, 500, 503]
      return calls % 3 === 0
        ? new Response('', { status: statuses[(calls / 3) % statuses.length] ?? 500 })
        : wallet.fetch(request)
    }
    const report = await checkBranch({ ...walletUnderTest(wallet), attemptsMax: 6, service: { fetch } })
    expect(report.violations).toEqual([])
    expect(report.ok).toBe(true)
  })

  it('The test kit finds no fault in connections that break before or after the effect', async () => {
    const wallet = new Wallet()
    const broken = { calls: 0, lost: 0 }
    const fetch = async (request: Request) => {
      broken.calls++
      if (broken.calls % 5 === 1) return Promise.reject(new Error('broke before'))
      const answer = await wallet.fetch(request)
      if (broken.calls % 5 === 3 && answer.status === 200) {
        broken.lost++
        throw new Error('broke after')
      }
      return answer
    }
    const report = await checkBranch({ ...walletUnderTest(wallet), attemptsMax: 6, service: { fetch } })
    expect(report.violations).toEqual([])
    expect(broken.lost).toBeGreaterThan(5)
  })

  it('The test kit finds no fault in an outage in which nothing is answered', async () => {
    const wallet = new Wallet()
    let isDown = false
    const fetch = (request: Request) =>
      isDown ? new Promise<Response>(() => undefined) : wallet.fetch(request)
    const outage = {
      begin: () => {
        isDown = true
      },
      end: () => {
        isDown = false
      },
    }
    const branch = { ...walletUnderTest(wallet), outage, service: { fetch }, callTimeoutMs: 500 }
    const report = await checkBranch(branch)
    expect(report.violations).toEqual([])
    expect(report.ok).toBe(true)
    const lost = report.checks.flatMap(({ evidence }) =>
      evidence.filter((step) => step.step === 'call' && step.lost !== undefined),
    )
    expect(lost).toHaveLength(1)
  })

  it('The test kit decides nothing about a service that does not answer in time', async () => {
    const wallet = new Wallet()
    const branch = {
      ...walletUnderTest(wallet),
      service: { fetch: () => new Promise<Response>(() => undefined) },
    }
    const report = await checkBranch({ ...branch, callTimeoutMs: 50 })
    expect([report.ok, report.violations]).toEqual([false, []])
    expect(report.checks[0]).toMatchObject({
      outcome: 'undecided',
      because: expect.stringContaining('none within 50 ms'),
    })
    expect(report.checks.slice(1).every(({ outcome }) => outcome === 'skipped')).toBe(true)
  })

  it('The test kit decides nothing about a service that is not there', async () => {
    const branch = { ...walletUnderTest(new Wallet()), service: { url: 'http://127.0.0.1:9/' } }
    const report = await checkBranch(branch)
    expect([report.ok, report.violations, report.checks[0]?.outcome]).toEqual([false, [], 'undecided'])
    const thrown = await assertBranch(branch).catch((error: unknown) => error)
    expect(thrown).toBeInstanceOf(BranchRulesBrokenError)
    expect(String(thrown)).toContain('could not be judged')
  })

  it('The test kit ends at its time limit', async () => {
    const wallet = new Wallet()
    const startedAt = performance.now()
    const report = await checkBranch({
      ...walletUnderTest(wallet),
      service: { fetch: serialised(wallet.fetch, 50) },
      timeLimitMs: 400,
    })
    const undecided = report.checks.filter(({ outcome }) => outcome === 'undecided')
    expect(undecided[0]?.because).toContain('time limit of 400 ms')
    expect([report.ok, report.violations]).toEqual([false, []])
    expect(performance.now() - startedAt).toBeLessThan(20_000)
  })
})
