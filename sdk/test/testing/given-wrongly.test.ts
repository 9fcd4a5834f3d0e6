import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import {
  assertBranch,
  BranchRulesBrokenError,
  type BranchUnderTest,
  checkBranch,
} from '../../src/testing/index.ts'
import { Wallet, walletUnderTest } from './wallet.ts'

async function because(
  change: (wallet: Wallet) => Partial<BranchUnderTest>,
): Promise<(string | undefined)[]> {
  const wallet = new Wallet()
  const { checks, violations } = await checkBranch({ ...walletUnderTest(wallet), ...change(wallet) })
  expect(violations).toEqual([])
  return checks.filter(({ outcome }) => outcome === 'undecided').map((check) => check.because)
}

describe('wrong input to the test kit', () => {
  it('The test kit decides nothing by a refusedPayload that is taken', async () => {
    expect(await because(() => ({ refusedPayload: { cents: 1 } }))).toEqual([
      'the business should refuse refusedPayload, and it took it: -1',
    ])
  })

  it('The test kit decides nothing by a drain that drains nothing', async () => {
    expect(await because(() => ({ drain: () => undefined }))).toEqual([
      'the business should refuse what is sent after drain, and it took it: -100',
    ])
  })

  it('The test kit decides nothing by an outage that does not hit the service', async () => {
    const outage = { begin: () => undefined, end: () => undefined }
    expect(await because(() => ({ outage }))).toEqual([
      'the action succeeded during the outage: it does not hit the service',
    ])
  })

  it('The test kit decides nothing by a reading that changes by itself', async () => {
    let readings = 0
    expect(await because(() => ({ read: () => ++readings }))).toEqual([expect.stringContaining('each time')])
  })

  it('The test kit decides nothing by a reading that holds what is made anew each time', async () => {
    const read = (wallet: Wallet) => () => ({
      cents: wallet.cents,
      id: wallet.cents < 10_000 ? lastId(wallet) : null,
    })
    let ids = 0
    const knownIds = new Map<Wallet, { cents: number; id: string }>()
    const lastId = (wallet: Wallet) => {
      const known = knownIds.get(wallet)
      if (known?.cents === wallet.cents) return known.id
      const made = { cents: wallet.cents, id: `row-${++ids}-of-many` }
      knownIds.set(wallet, made)
      return made.id
    }
    const found = await because((wallet) => {
      const shown = read(wallet)
      return {
        read: () => {
          if (wallet.cents === 10_000) knownIds.delete(wallet)
          return shown()
        },
      }
    })
    expect(found).toEqual([expect.stringContaining('no generated ids')])
  })

  it('The test kit rejects with what read throws', async () => {
    const wallet = new Wallet()
    await expect(
      checkBranch({
        ...walletUnderTest(wallet),
        read: () => {
          throw new Error('no such account')
        },
      }),
    ).rejects.toThrow('no such account')
  })

  it('Settings of the test kit that are no valid numbers are refused', async () => {
    const branch = walletUnderTest(new Wallet())
    await expect(checkBranch({ ...branch, width: 1 })).rejects.toThrow(
      'width must be a whole number of at least 2',
    )
    await expect(checkBranch({ ...branch, callTimeoutMs: Number.NaN })).rejects.toThrow(TypeError)
  })

  it('The test kit sends each gid with a payload of its own', async () => {
    const wallet = new Wallet()
    const payload = ({ gid }: { gid: string }) => ({ cents: 100, order: gid })
    const { checks } = await assertBranch({ ...walletUnderTest(wallet), payload })
    const bodies = checks[0]?.evidence.flatMap((step) =>
      step.step === 'call' ? [[step.gid, step.body]] : [],
    )
    expect(bodies).toHaveLength(2)
    for (const [gid, body] of bodies ?? []) expect(body).toBe(JSON.stringify({ cents: 100, order: gid }))
  })

  it('The error of the test kit has a text that a service author can act on', async () => {
    const thrown = await assertBranch(walletUnderTest(new Wallet('runs duplicates'))).catch(
      (error: unknown) => error,
    )
    expect(thrown).toBeInstanceOf(BranchRulesBrokenError)
    const { message } = thrown as BranchRulesBrokenError
    expect(message).toMatch(/^the branch broke DUPLICATE_RAN_TWICE\n/)
    expect(message).toContain('The rule: A call that comes again has no second effect.')
    expect(message).toContain(
      'Found: the action, sent again, changed: -100. It should have changed: nothing.',
    )
    expect(message).toMatch(/1\. action of \S+\/01, attempt 1, sent at \d+ ms, \{"cents":100\} → 200/)
    expect(message).toMatch(/read \(\S+\) → 9800/)
    expect(message).toContain('skipped concurrent-duplicates: duplicates did not pass (DUPLICATE_RAN_TWICE)')
  })

  it('The test kit runs under node:test as well, and lets the process end', async () => {
    const file = fileURLToPath(new URL('node-test-run.ts', import.meta.url))
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    const child = spawn(process.execPath, ['--test', '--test-reporter=tap', file], { env })
    const [output] = await Promise.all([text(child.stdout), once(child, 'close')])
    expect(output).toContain('# pass 3')
    expect(child.exitCode).toBe(0)
  })
})
