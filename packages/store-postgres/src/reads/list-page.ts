import { LIST_SCAN_MAX, type ListOrder, type ListQuery, type ListResult, toTagWords } from '@counterstep/core'
import { type LISTED_COLUMNS, type ListScan, readPage, type SCAN_END_COLUMNS } from '@counterstep/store-sql'
import { COLUMNS, STATEMENTS } from '../generated/sql.ts'
import type { Query, Session, Value } from '../sessions/session.ts'
import { numberParameters } from '../sql/number-parameters.ts'
import { ORDER_BY, type Part, toCreatedRange, toCursorRange, toFilters, toPrefixRange } from './list-parts.ts'

COLUMNS.list satisfies typeof LISTED_COLUMNS
COLUMNS.listScanEnd satisfies typeof SCAN_END_COLUMNS

const COUNT_PREFIXED = numberParameters(STATEMENTS.countPrefixed)
const COUNT_TAGGED = numberParameters(STATEMENTS.countTagged)
const IS_LIVE: Part = { sql: 'live = 1', values: [] }
const TRANSACTIONS: Part = { sql: 'counterstep_transactions', values: [] }

/** Bounds the rows of a page before they are filtered. */
interface Scan {
  readonly order: ListOrder
  /** The rows are those of this source. Absent: those of the tag that the ranges name. */
  readonly source?: Part
  readonly ranges: readonly Part[]
}

export function listPage(session: Session, query: ListQuery): Promise<ListResult> {
  return readPage((piece) => openScan(session, piece), query)
}

async function openScan(session: Session, query: ListQuery): Promise<ListScan> {
  const { order = 'created' } = query
  // The order of the accepts has this range in its scan already. Any other order filters by it what it has scanned.
  const filters = [...toFilters(query), ...(order === 'created' ? [] : toCreatedRange(query))]
  const scan = await chooseScan(session, query)
  return {
    isFiltered: filters.length > 0,
    readMatches: (scanRowsMax, rowsMax) => session.all(writeList(scan, filters, scanRowsMax, rowsMax)),
    readEnd: (place) => session.all(writeScanEnd(scan, place)),
  }
}

/**
 * Chooses the index of a page: that of the gids if few enough begin with the prefix, that of the tags if the order is that of the
 * accepts, else that of the order.
 */
async function chooseScan(session: Session, query: ListQuery): Promise<Scan> {
  const { order = 'created', gidPrefix = '', cursor } = query
  const range = order === 'created' ? toCreatedRange(query) : [IS_LIVE]
  const ranges = [...range, ...(cursor === undefined ? [] : [toCursorRange(order, cursor)])]
  if (gidPrefix !== '' && (await isRare(session, gidPrefix))) {
    const { sql, values } = toPrefixRange(gidPrefix)
    // The OFFSET keeps the planner from walking the index of the order in search of the prefix.
    const source = { sql: `(SELECT * FROM counterstep_transactions WHERE ${sql} OFFSET 0) prefixed`, values }
    return { order, source, ranges }
  }
  const tag = order === 'created' ? await findRarest(session, toTagWords(query.tags)) : undefined
  if (tag === undefined) return { order, source: TRANSACTIONS, ranges }
  return { order, ranges: [{ sql: 'tag = ?', values: [tag] }, ...ranges] }
}

async function isRare(session: Session, gidPrefix: string): Promise<boolean> {
  const { values } = toPrefixRange(gidPrefix)
  const [row] = await session.all({ sql: COUNT_PREFIXED, values: [...values, LIST_SCAN_MAX + 1] })
  return Number(row?.[0]) <= LIST_SCAN_MAX
}

/** A page scans the rarest of several tags, and its other filters ask for the others. */
async function findRarest(session: Session, tags: readonly string[]): Promise<string | undefined> {
  if (tags.length <= 1) return tags[0]
  const rows: number[] = []
  for (const tag of tags) {
    const [row] = await session.all({ sql: COUNT_TAGGED, values: [tag, LIST_SCAN_MAX] })
    rows.push(Number(row?.[0]))
  }
  return tags[rows.indexOf(Math.min(...rows))]
}

function writeList(scan: Scan, filters: readonly Part[], scanRowsMax: number, rowsMax: number): Query {
  const sql = scan.source === undefined ? STATEMENTS.listTagged : STATEMENTS.list
  return write(sql, scan, filters, [scanRowsMax, ...listValues(filters), rowsMax])
}

function writeScanEnd(scan: Scan, place: number): Query {
  const sql = scan.source === undefined ? STATEMENTS.listTaggedScanEnd : STATEMENTS.listScanEnd
  return write(sql, scan, [], [place])
}

/** The source, the ranges and the filters stand in this order in each statement. */
function write(
  sql: string,
  { order, source = { sql: '', values: [] }, ranges }: Scan,
  filters: readonly Part[],
  more: readonly Value[],
): Query {
  const text = sql
    .replace('/*source*/', source.sql)
    .replace('/*range*/', join(ranges))
    .replace('/*filters*/', join(filters))
    .replaceAll('/*order*/', ORDER_BY[order])
  return { sql: numberParameters(text), values: [...source.values, ...listValues(ranges), ...more] }
}

function join(parts: readonly Part[]): string {
  return parts.length === 0 ? 'TRUE' : parts.map(({ sql }) => sql).join(' AND ')
}

function listValues(parts: readonly Part[]): readonly Value[] {
  return parts.flatMap(({ values }) => values)
}
