import type { TimedLength } from '../load/load-job.ts'
import { type Measurement, measureInTurn, type RowSource } from '../rounds.ts'
import { type Ratio, type Row, ratioOf } from '../row.ts'
import type { ScenarioContext } from '../scenario.ts'
import { auditBank } from './audit-bank.ts'
import type { Column, ColumnName } from './columns.ts'
import { measureColumn } from './measure-column.ts'
import type { TransferBed } from './transfer-bed.ts'

/** Before the first round, by the warm-up of each. */
const FIRST_WARM_UPS = 3
/** Server, storing relay and gateway have more code than a service, and it is the same in every column that has them. */
const LONG_FIRST_WARM_UPS = 15

/** Measures columns, and knows all that was ever answered. */
export class TransferRun {
  readonly #context: ScenarioContext
  readonly #bed: TransferBed
  readonly #columns: readonly Column[]
  readonly #transfers = new Map<Column, number>()

  constructor(context: ScenarioContext, bed: TransferBed, columns: readonly Column[]) {
    this.#context = context
    this.#bed = bed
    this.#columns = columns
  }

  async warmUp(): Promise<void> {
    this.#context.progress.show('warming up')
    const { warmUpSeconds } = this.#context.settings
    const begun = new Set<Column['calls']>(['direct'])
    for (const column of this.#columns) {
      const seconds = warmUpSeconds * (begun.has(column.calls) ? FIRST_WARM_UPS : LONG_FIRST_WARM_UPS)
      await this.#measure(column, { type: 'time', warmUpSeconds: 0, seconds })
      begun.add(column.calls)
    }
  }

  /** `raw` comes before the columns. */
  rounds(length: TimedLength, raw: readonly RowSource[] = []): Promise<readonly Row[]> {
    const columns = this.#columns.map((column) => ({
      name: column.name,
      measure: () => this.#measure(column, length),
    }))
    return measureInTurn(this.#context, [...raw, ...columns])
  }

  /** Throws unless the tables hold what was answered, and so many transactions without a service. */
  audit(writes = 0): Promise<Record<string, number>> {
    this.#context.progress.show('auditing')
    return auditBank(this.#bed, { transfers: this.#transfers, writes })
  }

  async #measure(column: Column, length: TimedLength): Promise<Measurement> {
    const { harness, settings } = this.#context
    const measured = await measureColumn(harness, this.#bed, column, settings.connections, length)
    this.#transfers.set(column, (this.#transfers.get(column) ?? 0) + measured.answers)
    return measured
  }
}

export function ratiosBetween(
  rows: readonly Row[],
): (name: string, above: ColumnName, below: ColumnName) => Ratio {
  const rowOf = (name: ColumnName) => {
    const row = rows.find((each) => each.name === name)
    if (row === undefined) throw new Error(`${name} was not measured`)
    return row
  }
  return (name, above, below) => ratioOf(name, rowOf(above), rowOf(below))
}
