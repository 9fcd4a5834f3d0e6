import { LIST_SCAN_MAX, type ListCursor, type ListQuery, toTagWords } from '@counterstep/core'
import { STATEMENTS } from '../generated/sql.ts'
import type { Session } from '../sessions/session.ts'
import { fill, parseStatement } from '../sessions/statement.ts'
import { toCreatedRange, toPrefixRange } from './list-filters.ts'
import type { Part, Scan } from './list-statements.ts'

const COUNT_PREFIXED = parseStatement(STATEMENTS.countPrefixed)
const COUNT_TAGGED = parseStatement(STATEMENTS.countTagged)
const IS_LIVE: Part = { sql: 'live = 1', values: [] }

interface DueOrder {
  readonly findBound: readonly string[]
  /** Before every instant in this order. */
  readonly start: number
  readonly after: '<' | '>'
  readonly upTo: '<' | '>'
}

const DUE_ORDERS: Readonly<Record<'due' | 'due-last', DueOrder>> = {
  due: { findBound: parseStatement(STATEMENTS.findDueBound), start: -1, after: '>', upTo: '<' },
  'due-last': {
    findBound: parseStatement(STATEMENTS.findDueLastBound),
    start: Number.MAX_SAFE_INTEGER,
    after: '<',
    upTo: '>',
  },
}

/**
 * Chooses the index of a page: that of the gids if few enough begin with the prefix, that of the tags if the order is that of the
 * accepts, else that of the order.
 */
export async function chooseScan(session: Session, query: ListQuery, scanRowsMax: number): Promise<Scan> {
  const { order = 'created', gidPrefix = '', cursor } = query
  const cursors = cursor === undefined ? [] : [toCursorRange(order, cursor)]
  if (gidPrefix !== '' && (await isRare(session, gidPrefix))) {
    const range = order === 'created' ? toCreatedRange(query) : [IS_LIVE]
    return { order, index: 'counterstep_gid', ranges: [toPrefixRange(gidPrefix), ...range, ...cursors] }
  }
  if (order === 'created') {
    const tag = await findRarest(session, toTagWords(query.tags))
    const ranges = [...toCreatedRange(query), ...cursors]
    if (tag === undefined) return { order, index: 'counterstep_created', ranges }
    const isTagged: Part = { sql: 'tag = _binary ?', values: [tag] }
    return { order, index: 'counterstep_tags', ranges: [isTagged, ...ranges] }
  }
  const bound = await findDueBound(session, DUE_ORDERS[order], cursor, scanRowsMax)
  return { order, index: 'counterstep_due', ranges: [IS_LIVE, ...cursors, ...bound] }
}

function toCursorRange(order: NonNullable<ListQuery['order']>, { at, gid }: ListCursor): Part {
  if (order === 'created') {
    return { sql: 'created_at <= ? AND (created_at < ? OR gid < _binary ?)', values: [at, at, gid] }
  }
  const { after } = DUE_ORDERS[order]
  return {
    sql: `due_at ${after}= ? AND (due_at ${after} ? OR gid ${after} _binary ?)`,
    values: [at, at, gid],
  }
}

async function isRare(session: Session, gidPrefix: string): Promise<boolean> {
  const { values } = toPrefixRange(gidPrefix)
  const [row] = await session.all(fill(COUNT_PREFIXED, [...values, LIST_SCAN_MAX + 1]))
  return Number(row?.[0]) <= LIST_SCAN_MAX
}

/** A page scans the rarest of several tags, and its other filters ask for the others. */
async function findRarest(session: Session, tags: readonly string[]): Promise<string | undefined> {
  if (tags.length <= 1) return tags[0]
  const counts = await Promise.all(tags.map((tag) => session.all(fill(COUNT_TAGGED, [tag, LIST_SCAN_MAX]))))
  const rows = counts.map(([row]) => Number(row?.[0]))
  return tags[rows.indexOf(Math.min(...rows))]
}

/**
 * A page is sorted by the gid among rows of the same instant. This bounds what is sorted to the rows of the scan, with
 * all that are due at the same instant as the first or the last of them.
 */
async function findDueBound(
  session: Session,
  { findBound, start, upTo }: DueOrder,
  cursor: ListCursor | undefined,
  scanRowsMax: number,
): Promise<readonly Part[]> {
  const [row] = await session.all(fill(findBound, [cursor?.at ?? start, scanRowsMax]))
  return row === undefined ? [] : [{ sql: `due_at ${upTo}= ?`, values: [Number(row[0])] }]
}
