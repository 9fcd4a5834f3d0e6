import { BranchError } from '../branch/branch-errors.ts'
import { type Opening, readOpenings, type SqlDialect } from './statement-openings.ts'

/** Methods of mysql2 that begin or end a transaction, or end all that the session holds. */
const CONTROLLING: ReadonlySet<string | symbol> = new Set([
  'beginTransaction',
  'commit',
  'rollback',
  'changeUser',
  'reset',
])

/** Methods of mysql2 and `pg` that take a statement. */
const TAKING: ReadonlySet<string | symbol> = new Set(['query', 'execute', 'prepare'])

/**
 * Throws BARRIER_STATEMENT_REFUSED for a call on a lent connection that would begin or end a transaction: the barrier's row would be
 * committed or rolled back with it, and what the effect does from then on would be committed alone, and again when the call is
 * repeated. Returns the openings of the statements.
 */
export function assertKeepsTransaction(
  method: string | symbol,
  [statement]: readonly unknown[],
  dialect: SqlDialect,
): readonly Opening[] {
  if (CONTROLLING.has(method)) throw toRefusal(`${String(method)}()`)
  const text = TAKING.has(method) ? readText(statement, dialect) : undefined
  if (text === undefined) return []
  const openings = readOpenings(text, dialect)
  const refused = openings.find(isControlling)
  if (refused !== undefined) throw toRefusal(refused[0] ?? '')
  return openings
}

/** A statement may be an object that has its text, and some have one for each database. */
function readText(statement: unknown, dialect: SqlDialect): string | undefined {
  if (typeof statement === 'string') return statement
  if (typeof statement !== 'object' || statement === null) return undefined
  const text: unknown = Reflect.get(statement, dialect === 'mysql' ? 'sql' : 'text')
  return typeof text === 'string' ? text : undefined
}

function isControlling([first, second, third]: Opening): boolean {
  switch (first) {
    case 'COMMIT':
    case 'END':
    case 'ABORT':
      return true
    case 'BEGIN':
      // MariaDB knows BEGIN NOT ATOMIC, which begins a block of statements.
      return second !== 'NOT'
    case 'START':
    case 'PREPARE':
      return second === 'TRANSACTION'
    case 'ROLLBACK':
      return second !== 'TO' && third !== 'TO'
    default:
      return false
  }
}

function toRefusal(name: string): BranchError {
  const message = `the transaction is the barrier's, so its effect may not send ${name}: use SAVEPOINT and ROLLBACK TO, or throw`
  return new BranchError('BARRIER_STATEMENT_REFUSED', message)
}
