import { BranchError } from '../../branch/branch-errors.ts'
import { listCauses } from '../repeat-contended.ts'

/**
 * The fields of a result of `pg` that are read.
 *
 * @example
 * ```ts
 * const result: PostgresResult = await client.query('SELECT 1')
 * ```
 */
export interface PostgresResult {
  readonly command: string
  readonly rowCount: number | null
  readonly rows: readonly unknown[]
  readonly fields?: readonly unknown[]
}

/**
 * Holds one statement as `pg` takes it.
 *
 * @example
 * ```ts
 * const statement: PostgresStatement = { text: 'SELECT $1', values: [1] }
 * ```
 */
export interface PostgresStatement {
  text: string
  values?: unknown[]
  rowMode?: 'array'
}

/**
 * This is a client of `pg`, or a pool.
 *
 * @example
 * ```ts
 * const client: PostgresClient = new Client({ database: 'bank' })
 * ```
 */
export interface PostgresClient {
  query(statement: PostgresStatement): Promise<PostgresResult>
}

/**
 * This is a client that a pool lent.
 *
 * @example
 * ```ts
 * const client: PostgresPoolClient = await pool.connect()
 * client.release()
 * ```
 */
export interface PostgresPoolClient extends PostgresClient {
  /** Gives the client back to the pool. With an error or `true` the client is closed instead of being lent again. */
  release(error?: Error | boolean): void
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'notice', listener: (notice: PostgresNotice) => void): unknown
  removeListener(event: 'error', listener: (error: Error) => void): unknown
  removeListener(event: 'notice', listener: (notice: PostgresNotice) => void): unknown
}

/**
 * The fields of a notice of the server that are read.
 *
 * @example
 * ```ts
 * const notice: PostgresNotice = { code: '01000', routine: 'exec_stmt_raise' }
 * ```
 */
export interface PostgresNotice {
  readonly code?: string | undefined
  /** The function of the server that reported it. */
  readonly routine?: string | undefined
}

/**
 * This is a pool of `pg`.
 *
 * @example
 * ```ts
 * const pool: PostgresPool<PoolClient> = new Pool({ database: 'bank' })
 * ```
 */
export interface PostgresPool<Client extends PostgresPoolClient> {
  connect(): Promise<Client>
  /** Declared only so that the type of the client is inferred, because `pg` declares both forms. */
  connect(
    callback: (
      error: Error | undefined,
      client: Client | undefined,
      done: (release?: unknown) => void,
    ) => void,
  ): void
}

/**
 * Refuses a client of `pg.native`, which is told no notices of the server. By these the barrier learns that an effect has ended its
 * own transaction, and that a COMMIT did not wait for the standby. Throws a TypeError.
 */
export function assertHearsNotices(client: PostgresClient): void {
  if ('native' in client)
    throw new TypeError('the PostgreSQL barrier needs a client of pg: one of pg.native hears no notices')
}

const IDLE = 'I'

/** Tells whether the server has said that no transaction is open. Older releases of `pg` do not keep what it says. */
export function isOutsideTransaction(client: object): boolean {
  if (!('getTransactionStatus' in client) || typeof client.getTransactionStatus !== 'function') return false
  return client.getTransactionStatus() === IDLE
}

/** Runs a statement that returns no rows, or whose rows are ignored. */
export function execute(
  client: PostgresClient,
  text: string,
  values: unknown[] = [],
): Promise<PostgresResult> {
  // Without values a statement goes by the simple protocol, which takes several statements at once.
  return client.query(values.length === 0 ? { text } : { text, values })
}

/** Runs a SELECT. Returns rows as texts, in the order of their columns; every column is turned into text here. */
export async function select(
  client: PostgresClient,
  text: string,
  values: unknown[],
): Promise<readonly (readonly (string | null)[])[]> {
  const { rows } = await selectWithFields(client, text, values)
  return rows
}

/** Does the same, and returns the definitions of the columns, which a client that is no client of pg may leave out. */
export async function selectWithFields(client: PostgresClient, text: string, values: unknown[]) {
  const { rows, fields } = await client.query({ text, values, rowMode: 'array' })
  return {
    fields,
    rows: rows.map((row): readonly (string | null)[] => {
      if (!Array.isArray(row)) throw new TypeError('this is no client of pg: it does not know rowMode')
      return row.map((value: unknown) => (value === null || value === undefined ? null : String(value)))
    }),
  }
}

// serialization_failure, deadlock_detected: PostgreSQL's manual, 13.5, says to run the whole transaction again.
const CONTENDED: ReadonlySet<unknown> = new Set(['40001', '40P01'])
// read_only_sql_transaction: the server is a standby, and the client must not go back to the pool.
const READ_ONLY: ReadonlySet<unknown> = new Set(['25006'])

export function isContended(error: unknown): boolean {
  return hasCode(error, CONTENDED)
}

export function isReadOnly(error: unknown): boolean {
  return hasCode(error, READ_ONLY)
}

function hasCode(error: unknown, codes: ReadonlySet<unknown>): boolean {
  for (const cause of listCauses(error)) {
    if ('code' in cause && codes.has(cause.code)) return true
  }
  return false
}

export function toTransactionLostError(detail: string, cause?: unknown): BranchError {
  return new BranchError('BARRIER_TRANSACTION_LOST', detail, cause)
}
