import { BranchError } from '../branch/branch-errors.ts'
import { type Opening, opensBlock, readOpenings, type SqlDialect } from './statement-openings.ts'

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
  const refused = openings.find((opening) => isControlling(opening, dialect))
  if (refused !== undefined) throw toRefusal(describeOpening(refused))
  return openings
}

/** A statement may be an object that has its text, and some have one for each database. */
function readText(statement: unknown, dialect: SqlDialect): string | undefined {
  if (typeof statement === 'string') return statement
  if (typeof statement !== 'object' || statement === null) return undefined
  const text: unknown = Reflect.get(statement, dialect === 'mysql' ? 'sql' : 'text')
  return typeof text === 'string' ? text : undefined
}

function isControlling(opening: Opening, dialect: SqlDialect): boolean {
  const [first, second, third] = opening
  const isPostgres = dialect === 'postgres'
  switch (first) {
    case 'COMMIT':
      return true
    case 'END':
    case 'ABORT':
      // END ends a compound statement of MariaDB.
      return isPostgres
    case 'BEGIN':
      return isPostgres || !opensBlock(opening)
    case 'START':
      return second === 'TRANSACTION'
    case 'PREPARE':
      // It may also be the name of a prepared statement.
      return isPostgres && second === 'TRANSACTION' && third !== 'AS'
    case 'SET':
      return !isPostgres && setsAutocommit(opening)
    case 'ROLLBACK':
      return second !== 'TO' && third !== 'TO'
    default:
      return false
  }
}

const AUTOCOMMIT = 'AUTOCOMMIT'

/** MySQL commits when autocommit is turned on, and a session whose autocommit was turned off would go back to its pool so. */
function setsAutocommit([, second, third]: Opening): boolean {
  return second === AUTOCOMMIT || ((second === 'SESSION' || second === 'LOCAL') && third === AUTOCOMMIT)
}

function describeOpening([first = '']: Opening): string {
  return first === 'SET' ? 'SET autocommit' : first
}

function toRefusal(name: string): BranchError {
  const message = `the transaction is the barrier's, so its effect may not send ${name}: use SAVEPOINT and ROLLBACK TO, or throw`
  return new BranchError('BARRIER_STATEMENT_REFUSED', message)
}
