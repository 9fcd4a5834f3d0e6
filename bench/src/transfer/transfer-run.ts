import { type Measurement, measureInTurn, type RowSource } from '../rounds.ts'
import { type Ratio, type Row, ratioOf } from '../row.ts'
import type { ScenarioContext } from '../scenario.ts'
import { timed } from '../scenarios/saga-job.ts'
import { auditBank } from './audit-bank.ts'
import type { Column } from './columns.ts'
import { measureColumn } from './measure-column.ts'
import { measureWriters } from './measure-raw.ts'
import type { TransferBed } from './transfer-bed.ts'

const WARM_UP = { type: 'time', warmUpSeconds: 0, seconds: 0.6 } as const
/** Server, storing relay and gateway have more code than a service, and it is the same in every column that has them. */
const LONG_WARM_UP = { ...WARM_UP, seconds: 3 }

/** Measures columns, and knows all that was ever answered. */
export class TransferRun {
  readonly #context: ScenarioContext
  readonly #bed: TransferBed
  readonly #columns: readonly Column[]
  readonly #transfers = new Map<Column, number>()
  #writes = 0

  constructor(context: ScenarioContext, bed: TransferBed, columns: readonly Column[]) {
    this.#context = context
    this.#bed = bed
    this.#columns = columns
  }

  async warmUp(): Promise<void> {
    this.#context.progress.show('warming up')
    const begun = new Set<Column['calls']>(['direct'])
    for (const column of this.#columns) {
      await this.#measure(column, begun.has(column.calls) ? WARM_UP : LONG_WARM_UP)
      begun.add(column.calls)
    }
  }

  /** `raw` comes before the columns. */
  rounds(raw: readonly RowSource[]): Promise<readonly Row[]> {
    const length = timed(this.#context.settings)
    const columns = this.#columns.map((column) => ({
      name: column.name,
      measure: () => this.#measure(column, length),
    }))
    return measureInTurn(this.#context, [...raw, ...columns])
  }

  async measureWrites(): Promise<Measurement> {
    const measured = await measureWriters(this.#bed, timed(this.#context.settings))
    this.#writes += measured.answers
    return measured
  }

  /** Throws unless the tables hold what was answered. */
  async audit(): Promise<Record<string, number>> {
    this.#context.progress.show('auditing')
    return auditBank(this.#bed, { transfers: this.#transfers, writes: this.#writes })
  }

  async #measure(column: Column, length: Parameters<typeof measureWriters>[1]): Promise<Measurement> {
    const { harness, settings } = this.#context
    const measured = await measureColumn(harness, this.#bed, column, settings.connections, length)
    this.#transfers.set(column, (this.#transfers.get(column) ?? 0) + measured.answers)
    return measured
  }
}

/** By the names of the rows. */
export function ratioBetween<Name extends string>(
  rows: readonly Row[],
  name: string,
  above: Name,
  below: Name,
): Ratio {
  return ratioOf(name, rowNamed(rows, above), rowNamed(rows, below))
}

function rowNamed(rows: readonly Row[], name: string): Row {
  const row = rows.find((each) => each.name === name)
  if (row === undefined) throw new Error(`${name} was not measured`)
  return row
}
