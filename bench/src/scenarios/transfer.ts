import { isInMemory } from '../report/machine.ts'
import { type Measurement, measureInTurn, type RowSource } from '../rounds.ts'
import { type Ratio, type Row, ratioOf } from '../row.ts'
import type { Scenario, ScenarioContext } from '../scenario.ts'
import { storeFactsOf } from '../stores/open-store-host.ts'
import { auditBank, type Totals } from '../transfer/audit-bank.ts'
import { COLUMN_NAMES, COLUMNS, type Column, type ColumnName } from '../transfer/columns.ts'
import { measureColumn } from '../transfer/measure-column.ts'
import { measureSysbench, measureWriters } from '../transfer/measure-raw.ts'
import { openTransferBed, type TransferBed } from '../transfer/transfer-bed.ts'
import { timed } from './saga-job.ts'

const WARM_UP = { type: 'time', warmUpSeconds: 0, seconds: 0.6 } as const
/** Server, storing relay and gateway have more code than a service, and it is the same in every column with sagas. */
const LONG_WARM_UP = { ...WARM_UP, seconds: 3 }

export const transfer: Scenario = {
  name: 'transfer',
  summary:
    'two accounts of 200,000: no saga, a relay that writes twice, saga, barrier, grouped barrier; 2 and 10 SQL; and the raw store',
  // Eight columns and the raw ones within a minute.
  defaults: { store: 'mysql', connections: 20, seconds: 1, warmUpSeconds: 0.2 },
  async run(context) {
    const { settings, progress } = context
    const bed = await openTransferBed(context)
    const run = new TransferRun(context, bed)
    progress.show('warming up')
    for (const column of COLUMNS) {
      const isFirst = column.name === 'saga-2sql' || column.calls === 'storing'
      await run.measure(column, isFirst ? LONG_WARM_UP : WARM_UP)
    }
    const rows = await measureInTurn(context, [
      ...rawSources(run, bed, context),
      ...COLUMNS.map((column) => ({
        name: column.name,
        measure: () => run.measure(column, timed(settings)),
      })),
    ])
    progress.show('auditing')
    return {
      store: storeFactsOf(bed.host, bed.server),
      rows,
      ratios: ratiosOf(rows),
      counters: await auditBank(bed, run.totals),
      notes: [...(await cautions(bed)), ...NOTES],
    }
  },
}

const NOTES = [
  'storing-2sql: between gateway and services a relay that writes twice into the same store, by the store’s own package, and does nothing else that an orchestrator does',
  'per second is Global-TPS. DB-TPS: database transactions that wrote, by the database’s own counter (Binlog_commits, or the growth of gtid_executed), the orchestrator’s among them; log writes: of its binary log, where what is flushed together counts once',
  'OPS: its counter Questions: every statement, also START TRANSACTION and COMMIT, and each execution of a prepared one. The seeds counted them for sysbench, and not for their own columns',
  'sysbench: oltp_write_only, 10 tables of 10,000 rows, 10 threads: 4 writes a transaction. writes: our own transaction of 6 writes, 10 connections, from Node without HTTP',
  'in every column the same gateway process gets the request, and both services are one other process; bank and orchestrator are on one database server',
  'audit: ledger rows are 2 × pairs × finished transfers, no money came or went, each account is its ledger’s sum; each saga is stored as succeeded',
]

/** Measures, and knows all that was ever answered. */
class TransferRun {
  readonly #context: ScenarioContext
  readonly #bed: TransferBed
  readonly #totals: Record<ColumnName | 'writes', number>

  constructor(context: ScenarioContext, bed: TransferBed) {
    this.#context = context
    this.#bed = bed
    const zeros = COLUMN_NAMES.map((name) => [name, 0] as const)
    this.#totals = { writes: 0, ...(Object.fromEntries(zeros) as Record<ColumnName, number>) }
  }

  get totals(): Totals {
    return this.#totals
  }

  async measure(column: Column, length: Parameters<typeof measureWriters>[1]): Promise<Measurement> {
    const { harness, settings } = this.#context
    const measured = await measureColumn(harness, this.#bed, column, settings.connections, length)
    this.#totals[column.name] += measured.answers
    return measured
  }

  async measureWrites(): Promise<Measurement> {
    const measured = await measureWriters(this.#bed, timed(this.#context.settings))
    this.#totals.writes += measured.answers
    return measured
  }
}

function rawSources(run: TransferRun, bed: TransferBed, { settings }: ScenarioContext): readonly RowSource[] {
  const { sysbench } = bed
  const writes = { name: 'writes', measure: () => run.measureWrites() }
  if (sysbench === undefined) return [writes]
  return [{ name: 'sysbench', measure: () => measureSysbench(bed, sysbench, settings.seconds) }, writes]
}

function ratiosOf(rows: readonly Row[]): readonly Ratio[] {
  const ratio = (name: string, above: ColumnName, below: ColumnName) =>
    ratioOf(name, rowNamed(rows, above), rowNamed(rows, below))
  return [
    ratio('storing/none-2sql', 'storing-2sql', 'none-2sql'),
    ratio('saga/none-2sql', 'saga-2sql', 'none-2sql'),
    ratio('barrier/none-2sql', 'barrier-2sql', 'none-2sql'),
    ratio('grouped/none-2sql', 'grouped-2sql', 'none-2sql'),
    ratio('saga/none-10sql', 'saga-10sql', 'none-10sql'),
    ratio('barrier/none-10sql', 'barrier-10sql', 'none-10sql'),
  ]
}

function rowNamed(rows: readonly Row[], name: ColumnName): Row {
  const row = rows.find((each) => each.name === name)
  if (row === undefined) throw new Error(`${name} was not measured`)
  return row
}

async function cautions({ host, link, sysbench }: TransferBed): Promise<readonly string[]> {
  const [row] = await link.rows('SELECT @@datadir AS folder')
  return [
    ...(host.cpuSeconds !== undefined && isInMemory(String(row?.folder))
      ? ['CAUTION: the database lies in memory, where a commit costs next to nothing']
      : []),
    ...(host.cpuSeconds === undefined
      ? ['CAUTION: the database is not ours alone: its counters tell of everybody']
      : []),
    ...(sysbench === undefined
      ? [
          'sysbench is skipped: there is no such program on the PATH (Debian, Ubuntu: apt-get install sysbench)',
        ]
      : []),
  ]
}
