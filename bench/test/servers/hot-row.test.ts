import { describeOn, describeOwn } from '@counterstep/test-servers/vitest'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { formatReport } from '../../src/report/print-report.ts'
import { reportLine } from '../../src/report/report.ts'
import { runBench } from '../../src/run-bench.ts'
import { auditHotRow } from '../../src/scenarios/hot-row/audit-hot-row.ts'
import { createHotAccount, HOT_ID } from '../../src/scenarios/hot-row/hot-account.ts'
import { hotRow } from '../../src/scenarios/hot-row.ts'
import type { Settings } from '../../src/settings.ts'
import { SqlLink } from '../../src/stores/sql-link.ts'
import { SMOKE, SMOKE_MS_MAX, silent } from '../smoke.ts'

// This is long enough for two callers to meet in a group, however busy the machine is.
const HOT_SMOKE: Settings = { ...SMOKE, store: 'mariadb', connections: 2, seconds: 1 }

describeOwn('mariadb', 'the hot row', () => {
  it('Each call on the hot row has one effect, in every way of writing it', {
    timeout: SMOKE_MS_MAX,
  }, async () => {
    const report = await runBench(hotRow, HOT_SMOKE, silent)
    const { rows, ratios, counters } = report
    expect(rows.map(({ name }) => name)).toEqual(
      ['1 caller', '2 callers'].flatMap((callers) =>
        ['update', 'plain', 'grouped'].map((way) => `${way}, ${callers}`),
      ),
    )
    for (const way of ['plain', 'grouped']) {
      const ran = counters[`${way} ran`]
      expect(ran).toBeGreaterThan(0)
      expect(counters[`${way} ledgerRows`]).toBe(ran)
      expect(counters[`${way} barrierRows`]).toBe(ran)
      expect(counters[`${way} balance`]).toBe(1_000 + (counters[`${way} ledgerCents`] ?? 0))
      expect(counters[`${way} duplicates`]).toBeGreaterThan(0)
      expect(counters[`${way} duplicates`]).toBeLessThanOrEqual(counters[`${way} sentTwice`] ?? 0)
    }
    expect(counters['update balance']).toBe(1_000 + (counters['update ran'] ?? 0))
    const findCommits = (name: string) =>
      rows.find((row) => row.name === name)?.figures['commits/call']?.rounds
    expect(findCommits('plain, 2 callers')).toEqual([1])
    expect(findCommits('grouped, 2 callers')?.[0]).toBeLessThan(1)
    expect(ratios['grouped/plain']).toBeGreaterThan(0)
    expect(report.store).toMatchObject({ name: 'mysql', durabilityClass: 'A', failover: 'none' })
    expect(formatReport(report)).toContain('grouped/plain = ')
    expect(JSON.parse(reportLine(report))).toMatchObject({
      scenario: 'hot-row',
      store: 'mysql',
      settings: HOT_SMOKE,
      ratios: { 'grouped/plain': ratios['grouped/plain'] },
    })
  })
})

describeOn('mariadb', 'the audit of the hot row', (url) => {
  const database = `bench_audit_${process.pid}`
  const audit = (ran: number) => auditHotRow(link, 'plain', database, { ran })
  let link: SqlLink

  const barrierRow = (gid: string) =>
    link.run(
      `INSERT INTO ${database}.counterstep_barrier (gid, branch_id, op, barrier_id, reason, created_at)
       VALUES (?, '01', 'action', '01', 'action', 0)`,
      [gid],
    )
  const ledgerRow = (gid: string, cents: number) =>
    link.run(`INSERT INTO ${database}.ledger (gid, account, cents) VALUES (?, ?, ?)`, [gid, HOT_ID, cents])
  const pay = (cents: number) => link.run(`UPDATE ${database}.account SET cents = cents + ?`, [cents])

  beforeAll(async () => {
    link = await SqlLink.open(url)
  })
  afterAll(async () => {
    await link.run(`DROP DATABASE IF EXISTS ${database}`)
    await link.close()
  })
  beforeEach(async () => {
    await link.run(`DROP DATABASE IF EXISTS ${database}`)
    await createHotAccount(link, database)
    for (const [gid, cents] of [
      ['a', -300],
      ['b', 50],
    ] as const) {
      await barrierRow(gid)
      await ledgerRow(gid, cents)
      await pay(cents)
    }
  })

  it('The audit of the hot row accepts that each call that ran has its rows and its money', async () => {
    expect(await audit(2)).toEqual({
      balance: 750,
      ledgerCents: -250,
      ledgerRows: 2,
      ledgerGids: 2,
      barrierRows: 2,
      barrierGids: 2,
    })
  })

  it('The audit of the hot row finds an answer that has no rows', () =>
    expect(audit(3)).rejects.toThrow('must be equal'))

  it('The audit of the hot row finds money that no call has booked', async () => {
    await pay(1)
    await expect(audit(2)).rejects.toThrow('balance')
  })

  it('The audit of the hot row finds a call that was booked twice', async () => {
    await ledgerRow('b', 50)
    await pay(50)
    await expect(audit(3)).rejects.toThrow('ledgerGids')
  })

  it('The audit of the hot row finds an effect without the row of its barrier', async () => {
    await ledgerRow('c', 0)
    await barrierRow('another')
    await expect(audit(3)).rejects.toThrow('barrierGids')
  })

  it('The audit of the hot row finds a balance below zero', async () => {
    await barrierRow('c')
    await ledgerRow('c', -800)
    await pay(-800)
    await expect(audit(3)).rejects.toThrow('-50')
  })
})
