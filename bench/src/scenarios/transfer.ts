import { toTimedLength } from '../load/to-timed-length.ts'
import type { RowSource } from '../rounds.ts'
import type { Ratio, Row } from '../row.ts'
import type { Scenario, ScenarioContext } from '../scenario.ts'
import { COLUMNS } from '../transfer/columns.ts'
import { measureSysbench, measureWriters } from '../transfer/measure-raw.ts'
import { measureTransfers, type RawRows, ratiosBetween } from '../transfer/measure-transfers.ts'
import { openRawFixture, type RawFixture } from '../transfer/raw-fixture.ts'
import { openTransferFixture, type TransferFixture } from '../transfer/transfer-fixture.ts'

export const transfer: Scenario = {
  name: 'transfer',
  summary:
    'between two of 200,000 accounts (--accounts): no saga, a relay that writes twice, saga, barrier, grouped barrier; 2 and 10 SQL; and the raw store',
  // Eight columns and the raw ones within a minute.
  defaults: { store: 'mysql', connections: 20, seconds: 0.9, warmUpSeconds: 0.2 },
  async run(context) {
    const fixture = await openTransferFixture(context, ['writes', ...COLUMNS.map(({ name }) => name)])
    const raw = await openRawFixture(context, fixture)
    const measured = await measureTransfers(context, fixture, COLUMNS, makeRawRows(fixture, raw, context))
    return {
      ...measured,
      ratios: toRatios(measured.rows),
      notes: [...measured.notes, ...sysbenchNotes(raw), ...NOTES],
    }
  },
}

const NOTES = [
  'baseline-2sql: between gateway and services a relay that writes twice into the same store, by the store’s own package, and does nothing else that an orchestrator does',
  'per second is Global-TPS. DB-TPS: database transactions that wrote, by the database’s own counter (Binlog_commits, or the growth of gtid_executed), the orchestrator’s among them; log writes: of its binary log, where what is flushed together counts once',
  'OPS: its counter Questions: every statement, also START TRANSACTION and COMMIT, and each execution of a prepared one. The seeds counted them for sysbench, and not for their own columns',
  'sysbench: oltp_write_only, 10 tables of 10,000 rows, 10 threads: 4 writes a transaction. writes: our own transaction of 6 writes, 10 connections, from Node without HTTP',
  'in every column the same gateway process gets the request, and both services are one other process; bank and orchestrator are on one database server',
  'audit: ledger rows are 2 × pairs × finished transfers, no money came or went, each account is its ledger’s sum; each saga is stored as succeeded',
]

function makeRawRows(fixture: TransferFixture, raw: RawFixture, { settings }: ScenarioContext): RawRows {
  const { sysbench } = raw
  let written = 0
  const writes: RowSource = {
    name: 'writes',
    async measure() {
      const measured = await measureWriters(fixture, raw, toTimedLength(settings))
      written += measured.answers
      return measured
    },
  }
  if (sysbench.type === 'missing') return { sources: [writes], writes: () => written }
  const byOthers: RowSource = {
    name: 'sysbench',
    measure: () => measureSysbench(fixture, sysbench.sysbench, settings.seconds),
  }
  return { sources: [byOthers, writes], writes: () => written }
}

function toRatios(rows: readonly Row[]): readonly Ratio[] {
  const ratio = ratiosBetween(rows)
  return [
    ratio('baseline/none-2sql', 'baseline-2sql', 'none-2sql'),
    ratio('saga/none-2sql', 'saga-2sql', 'none-2sql'),
    ratio('barrier/none-2sql', 'barrier-2sql', 'none-2sql'),
    ratio('grouped/none-2sql', 'grouped-2sql', 'none-2sql'),
    ratio('saga/none-10sql', 'saga-10sql', 'none-10sql'),
    ratio('barrier/none-10sql', 'barrier-10sql', 'none-10sql'),
  ]
}

function sysbenchNotes({ sysbench }: RawFixture): readonly string[] {
  return sysbench.type === 'missing' ? [`sysbench is skipped: ${sysbench.reason}`] : []
}
