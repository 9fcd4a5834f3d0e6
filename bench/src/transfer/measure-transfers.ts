import type { TimedLength } from '../load/load-job.ts'
import { toTimedLength } from '../load/to-timed-length.ts'
import { type Measurement, measureInTurn, type RowSource } from '../rounds.ts'
import { type Ratio, type Row, rowNamed, toRatio } from '../row.ts'
import type { Outcome, ScenarioContext } from '../scenario.ts'
import { isDatabaseInMemory } from '../stores/is-database-in-memory.ts'
import { toStoreFacts } from '../stores/open-store-host.ts'
import { auditBank } from './audit-bank.ts'
import type { Column, ColumnName } from './columns.ts'
import { measureColumn } from './measure-column.ts'
import type { TransferFixture } from './transfer-fixture.ts'

/** Each warm-up is run so many times before the first round. */
const FIRST_WARM_UPS = 2
/**
 * The server, the two-writes baseline and the gateway have more code than a service, and it is the same in every column
 * that has them.
 */
const LONG_FIRST_WARM_UPS = 15

/** Rows without a service; they come before the columns. */
export interface RawRows {
  readonly sources: readonly RowSource[]
  /** How many of our own transactions were answered. */
  readonly writes: () => number
}

/** Throws unless the tables hold what was answered. */
export async function measureTransfers(
  context: ScenarioContext,
  fixture: TransferFixture,
  columns: readonly Column[],
  raw?: RawRows,
): Promise<Omit<Outcome, 'ratios'> & Required<Pick<Outcome, 'notes'>>> {
  const { harness, settings, progress } = context
  const transfers = new Map<Column, number>()
  const measure = async (column: Column, length: TimedLength): Promise<Measurement> => {
    const measured = await measureColumn(harness, fixture, column, settings.connections, length)
    transfers.set(column, (transfers.get(column) ?? 0) + measured.answers)
    return measured
  }

  progress.show('warming up')
  const begun = new Set<Column['calls']>(['direct'])
  for (const column of columns) {
    const warmUps = begun.has(column.calls) ? FIRST_WARM_UPS : LONG_FIRST_WARM_UPS
    await measure(column, { type: 'time', warmUpSeconds: 0, seconds: warmUps * settings.warmUpSeconds })
    begun.add(column.calls)
  }
  const sources = columns.map((column) => ({
    name: column.name,
    measure: () => measure(column, toTimedLength(settings)),
  }))
  const rows = await measureInTurn(context, [...(raw?.sources ?? []), ...sources])
  progress.show('auditing')
  return {
    store: toStoreFacts(fixture.host, fixture.server),
    rows,
    counters: await auditBank(fixture, transfers, raw?.writes()),
    notes: await databaseCautions(fixture),
  }
}

export function ratiosBetween(
  rows: readonly Row[],
): (name: string, above: ColumnName, below: ColumnName) => Ratio {
  return (name, above, below) => toRatio(name, rowNamed(rows, above), rowNamed(rows, below))
}

/** Lists what a reader of the database's own figures must know about the database. */
async function databaseCautions({ host, link }: TransferFixture): Promise<readonly string[]> {
  if (host.cpuSeconds === undefined) {
    return ['CAUTION: the database is not ours alone: its counters tell of everybody']
  }
  return (await isDatabaseInMemory(link))
    ? ['CAUTION: the database lies in memory, where a commit costs next to nothing']
    : []
}
