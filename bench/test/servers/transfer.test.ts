import { findProgram } from '@counterstep/test-servers'
import { describeOn, describeOwn } from '@counterstep/test-servers/vitest'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { reportLine } from '../../src/report/report.ts'
import { runBench } from '../../src/run-bench.ts'
import { transfer } from '../../src/scenarios/transfer.ts'
import type { Settings } from '../../src/settings.ts'
import { SqlLink } from '../../src/stores/sql-link.ts'
import { auditColumn } from '../../src/transfer/audit-column.ts'
import { createBank, toTables } from '../../src/transfer/bank-tables.ts'
import { COLUMNS } from '../../src/transfer/columns.ts'
import { SMOKE, silent } from '../smoke.ts'

// This is long enough for one transfer, however busy the machine is.
const TRANSFERS: Settings = { ...SMOKE, store: 'mariadb', connections: 2, seconds: 1, accounts: 3_000 }
const { accounts } = TRANSFERS
const TRANSFERS_MS_MAX = 120_000
const FILL_MS_MAX = 60_000

describeOwn('mariadb', 'the transfers', () => {
  it('The transfers leave exactly their ledger rows in every column', {
    timeout: TRANSFERS_MS_MAX,
  }, async () => {
    const report = await runBench(transfer, TRANSFERS, silent)
    const { rows, ratios, counters } = report
    const sysbench = await findProgram('sysbench')
    expect(rows.map(({ name }) => name)).toEqual([
      ...(sysbench.type === 'found' ? ['sysbench'] : []),
      'writes',
      ...COLUMNS.map(({ name }) => name),
    ])
    for (const { name, pairs } of COLUMNS) {
      const transfers = counters[`${name} transfers`] ?? 0
      expect(transfers).toBeGreaterThan(0)
      expect(counters[`${name} ledgerRows`]).toBe(2 * pairs * transfers)
    }
    expect(counters.stored).toBe(counters.sagas)
    expect(counters.storedByBaseline).toBe(counters['baseline-2sql transfers'])
    const findCommits = (name: string) =>
      rows.find((row) => row.name === name)?.figures['commits each']?.rounds
    // The server beside them commits a report of its node each 15 s, which is shared by hundreds of transfers.
    for (const [name, commits] of [
      ['writes', 1],
      ['none-2sql', 2],
      ['none-10sql', 2],
    ] as const)
      expect(findCommits(name)).toEqual([expect.closeTo(commits, 1)])
    expect(Object.keys(ratios)).toEqual([
      'baseline/none-2sql',
      'saga/none-2sql',
      'barrier/none-2sql',
      'grouped/none-2sql',
      'saga/none-10sql',
      'barrier/none-10sql',
    ])
    expect(JSON.parse(reportLine(report))).toMatchObject({ scenario: 'transfer', store: 'mysql', ratios })
    expect(report.store).toMatchObject({ name: 'mysql', durabilityClass: 'A' })
  })
})

describeOn('mariadb', 'the audit of a column', (url) => {
  const database = `bench_transfer_${process.pid}`
  const tables = toTables('barrier-2sql')
  const audit = (transfers: number) =>
    auditColumn(link, 'barrier-2sql', tables, {
      accounts,
      transfers,
      rowsEach: 2,
      barrierRowsEach: 2,
      addedCents: 0,
    })
  let link: SqlLink

  const bookRow = (gid: string, account: number, cents: number) =>
    link.run(`INSERT INTO ${tables.ledger} (account, cents, gid, branch_id) VALUES (?, ?, ?, '01')`, [
      account,
      cents,
      gid,
    ])
  const pay = (account: number, cents: number) =>
    link.run(`UPDATE ${tables.account} SET cents = cents + ? WHERE id = ?`, [cents, account])
  const barrierRow = (gid: string, branchId: string) =>
    link.run(
      `INSERT INTO ${tables.barrier} (gid, branch_id, op, barrier_id, reason, created_at)
       VALUES (?, ?, 'action', '01', 'action', 0)`,
      [gid, branchId],
    )

  beforeAll(async () => {
    link = await SqlLink.open(url)
    await link.run(`CREATE DATABASE ${database}`)
    await link.run(`USE ${database}`)
    await createBank(link, { names: ['barrier-2sql'], accounts }, () => undefined)
  }, FILL_MS_MAX)
  afterAll(async () => {
    await link.run(`DROP DATABASE IF EXISTS ${database}`)
    await link.close()
  })
  beforeEach(async () => {
    await link.run(`DELETE FROM ${tables.ledger}`)
    await link.run(`DELETE FROM ${tables.barrier}`)
    await link.run(`UPDATE ${tables.account} SET cents = 1000000 WHERE cents <> 1000000`)
    await bookRow('a', 1, -1)
    await bookRow('a', accounts, 1)
    await pay(1, -1)
    await pay(accounts, 1)
    await barrierRow('a', 'trans-out')
    await barrierRow('a', 'trans-in')
  })

  it('The audit of the transfers accepts that each transfer has its rows and its money', async () => {
    expect(await audit(1)).toMatchObject({
      accounts,
      ledgerRows: 2,
      barrierRows: 2,
      wrongAccounts: 0,
    })
  })

  it('The audit of the transfers finds an answer that has no rows', () =>
    expect(audit(2)).rejects.toThrow('must be equal'))

  it('The audit of the transfers finds a ledger row too many', async () => {
    await bookRow('a', 2, 0)
    await expect(audit(1)).rejects.toThrow('ledger rows')
  })

  it('The audit of the transfers finds a transfer without the row of its barrier', async () => {
    await link.run(`DELETE FROM ${tables.barrier} LIMIT 1`)
    await expect(audit(1)).rejects.toThrow('barrier rows')
  })

  it('The audit of the transfers finds money that came from nowhere', async () => {
    await pay(3, 1)
    await expect(audit(1)).rejects.toThrow('cents')
  })

  it('The audit of the transfers finds money that one account has and another lacks', async () => {
    await pay(3, 1)
    await pay(4, -1)
    await expect(audit(1)).rejects.toThrow('not what their ledger says')
  })
})
