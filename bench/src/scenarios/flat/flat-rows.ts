import { type Measured, toRow } from '../../rounds.ts'
import { divideSpreads, type Ratio, type Row, toFigures } from '../../row.ts'
import { type Spread, toSpread } from '../../spread.ts'
import type { DueClaims } from './claim-due.ts'
import { TABLE_NAMES, type TableName } from './open-tables.ts'

/** The measurements of one table, one round after the other. */
export interface TableRounds {
  readonly together: Measured[]
  readonly oneByOne: Measured[]
  readonly claims: DueClaims[]
}

export function flatRows(
  tables: Readonly<Record<TableName, TableRounds>>,
  connections: number,
): { readonly rows: readonly Row[]; readonly ratios: readonly Ratio[] } {
  const toRows = (row: (name: TableName) => Row) => {
    const [empty, full] = TABLE_NAMES.map(row)
    if (empty === undefined || full === undefined) throw new Error('a table is missing')
    return { empty, full }
  }
  const together = toRows((name) => toRow(`submit, ${connections} callers, ${name}`, tables[name].together))
  const oneByOne = toRows((name) => toRow(`submit, 1 caller, ${name}`, tables[name].oneByOne))
  const claims = toRows((name) => claimRow(`claim, ${name}`, tables[name].claims))
  const createMs = (row: Row) => row.figures['create ms']
  return {
    rows: [together, oneByOne, claims].flatMap(({ empty, full }) => [empty, full]),
    // Costs, so the empty table's rate is above.
    ratios: [
      ratio('submit cost full/empty', together.empty.perSecond, together.full.perSecond),
      ratio('submit p50 full/empty', oneByOne.full.p50Ms, oneByOne.empty.p50Ms),
      ratio('create full/empty', createMs(oneByOne.full), createMs(oneByOne.empty)),
      ratio('claim cost full/empty', claims.empty.perSecond, claims.full.perSecond),
    ],
  }
}

function claimRow(name: string, rounds: readonly DueClaims[]): Row {
  return {
    name,
    perSecond: toSpread(rounds.map(({ claimed, seconds }) => claimed / seconds)),
    p50Ms: null,
    p99Ms: null,
    cpuUs: null,
    answers: rounds.reduce((sum, { claimed }) => sum + claimed, 0),
    figures: toFigures(
      rounds.map(({ claims, seconds }) => ({ claims, 'claim ms': (seconds / claims) * 1000 })),
    ),
  }
}

function ratio(name: string, above: Spread | null | undefined, below: Spread | null | undefined): Ratio {
  if (above == null || below == null) throw new Error(`${name} was not measured`)
  return { name, spread: divideSpreads(above, below) }
}
