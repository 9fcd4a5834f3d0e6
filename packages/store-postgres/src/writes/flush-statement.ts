import { STATEMENTS } from '../generated/sql.ts'
import type { Query, Value } from '../sessions/session.ts'
import { numberParameters } from '../sql/number-parameters.ts'
import type { PendingCreate, PendingUpdate } from './pending-writes.ts'

/** The places of the columns of a flush's one row. */
export const FLUSHED = { now: 0, created: 1, updated: 2 } as const

const CREATED = "(SELECT string_agg(gid, ' ') FROM created)"
const UPDATED = "(SELECT string_agg(gid, ' ') FROM updated)"

/** Tells the nodes that listen which rows a command has changed, with the COMMIT. The rest of the statement does not need the answer. */
const TOLD = "(SELECT count(pg_notify('counterstep', gid)) FROM updated WHERE hold = 'command')"

const STATEMENTS_BY_PARTS = {
  creates: write([STATEMENTS.created], [CREATED, 'NULL']),
  tagged: write([STATEMENTS.created, STATEMENTS.entered], [CREATED, 'NULL']),
  updates: write([STATEMENTS.updated], ['NULL', UPDATED, TOLD]),
  both: write([STATEMENTS.created, STATEMENTS.updated], [CREATED, UPDATED, TOLD]),
  all: write([STATEMENTS.created, STATEMENTS.updated, STATEMENTS.entered], [CREATED, UPDATED, TOLD]),
} as const

/**
 * Writes a flush as one statement, which is one round trip and one database transaction. It returns one row: the instant, and
 * the gids that were created and that were updated, each with spaces between them, which no gid has. Without `tells` no node is told
 * of commands.
 */
export function writeFlush(
  creates: readonly PendingCreate[],
  updates: readonly PendingUpdate[],
  tells = true,
): Query {
  const name = nameParts(creates, updates)
  const values = [...toColumns(creates), ...toColumns(updates), ...listGidsAgain(updates)]
  const sql = STATEMENTS_BY_PARTS[name]
  if (tells) return { sql, values, name: `counterstep_${name}` }
  return { sql: sql.replace(TOLD, '0'), values, name: `counterstep_${name}_untold` }
}

function nameParts(
  creates: readonly PendingCreate[],
  updates: readonly PendingUpdate[],
): keyof typeof STATEMENTS_BY_PARTS {
  const hasTags = creates.some((create) => create.hasTags)
  if (updates.length === 0) return hasTags ? 'tagged' : 'creates'
  if (creates.length === 0) return 'updates'
  return hasTags ? 'all' : 'both'
}

function write(parts: readonly string[], columns: readonly string[]): string {
  const sql = `WITH ${[STATEMENTS.clock, ...parts].join(', ')} SELECT now, ${columns.join(', ')} FROM clock`
  return numberParameters(sql)
}

/** The last parameter of updated.sql. */
function listGidsAgain(updates: readonly PendingUpdate[]): readonly Value[] {
  return updates.length === 0 ? [] : [updates.map(({ gid }) => gid)]
}

/** Turns rows into one array for each parameter. */
function toColumns(writes: readonly (PendingCreate | PendingUpdate)[]): readonly Value[] {
  const [first] = writes
  if (first === undefined) return []
  return first.cells.map((_, column) => writes.map(({ cells }) => cells[column] ?? null))
}
