import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { Connection } from 'mysql2'
import type { Value } from './literal.ts'
import { endsSession, SqlError, toSqlError, toStall, UnsentError } from './server-errors.ts'
import { fillRows, groupsWithin, type RowsStatement } from './statement.ts'

export type Cell = string | number | Buffer | null
export type Row = readonly Cell[]

type Answer = readonly Row[] | { readonly affectedRows: number }

/** Room for the packet's own bytes beside the statement's. */
const PACKET_OVERHEAD_BYTES = 1_024
const UTF8_BYTES_PER_UNIT_MAX = 3
/** How long a server has to end the connection after a goodbye. */
const GOODBYE_MS = 1_000

/** One connection, set up and checked. After an error that leaves its state open it is destroyed, never given back. */
export class Session {
  readonly #connection: Connection
  readonly #statementTimeoutMs: number
  #packetBytesMax = Number.POSITIVE_INFINITY
  /** Rows of one statement together; more are divided among several. */
  rowBytesMax = Number.POSITIVE_INFINITY
  #isBroken = false
  #rejectPending: ((error: SqlError) => void) | undefined
  /** By the monotonic clock, set by the pool. */
  idleSince = 0
  #rowsChanged = 0
  #answered = 0

  constructor(connection: Connection, statementTimeoutMs: number) {
    this.#connection = connection
    this.#statementTimeoutMs = statementTimeoutMs
    // An idle connection's end arrives as an event, which would end the process if nobody listened.
    connection.on('error', (error) => this.#lost(toSqlError(error)))
    connection.on('end', () => this.#lost(new SqlError('lost', 'the server has closed the connection')))
  }

  get isBroken(): boolean {
    return this.#isBroken
  }

  /** By all its statements so far. */
  get rowsChanged(): number {
    return this.#rowsChanged
  }

  /** So many statements of what was sent last; of one that answers with rows as soon as these begin. */
  get answered(): number {
    return this.#answered
  }

  set packetBytesMax(bytes: number) {
    this.#packetBytesMax = bytes
  }

  async all(sql: string, timeoutMs = this.#statementTimeoutMs): Promise<readonly Row[]> {
    return (await this.#query(sql, timeoutMs)) as readonly Row[]
  }

  /** The number of rows that it has changed. */
  async run(sql: string, timeoutMs = this.#statementTimeoutMs): Promise<number> {
    const { affectedRows } = (await this.#query(sql, timeoutMs)) as { affectedRows: number }
    this.#rowsChanged += affectedRows
    return affectedRows
  }

  /** Of all these rows. */
  async allRows(statement: RowsStatement, rows: readonly string[]): Promise<readonly Row[]> {
    const found: Row[] = []
    for (const group of this.#groups(rows)) found.push(...(await this.all(fillRows(statement, group))))
    return found
  }

  async runRows(
    statement: RowsStatement,
    rows: readonly string[],
    tailValues: readonly Value[] = [],
  ): Promise<number> {
    let changed = 0
    for (const group of this.#groups(rows)) changed += await this.run(fillRows(statement, group, tailValues))
    return changed
  }

  /** Of each statement its rows, or how many it has changed; each is sent when the one before was answered. */
  async oneByOne(statements: readonly string[]): Promise<readonly (readonly Row[] | number)[]> {
    const answers: (readonly Row[] | number)[] = []
    for (const sql of statements) {
      answers.push(this.#counted((await this.#query(sql, this.#statementTimeoutMs)) as Answer))
    }
    return answers
  }

  /**
   * Several statements in one packet, done one after the other until one fails; of each its rows, or how many it has
   * changed. The first must be answered within `firstTimeoutMs`, if given. Only for a session that was opened for it.
   */
  async packet(
    statements: readonly string[],
    firstTimeoutMs?: number,
  ): Promise<readonly (readonly Row[] | number)[]> {
    const sql = statements.join(';')
    const answers = (await this.#query(sql, this.#statementTimeoutMs, firstTimeoutMs)) as readonly Answer[]
    return answers.map((answer) => this.#counted(answer))
  }

  destroy(): void {
    if (this.#isBroken) return
    this.#isBroken = true
    reset(this.#connection)
    this.#connection.destroy()
  }

  /** Says goodbye, so that the server need not note a lost client. */
  end(): void {
    if (this.#isBroken) return
    this.#isBroken = true
    // The driver calls back before it says it. An error here is the connection's end, which is what was wanted.
    this.#connection.end(() => undefined)
    setTimeout(() => reset(this.#connection), GOODBYE_MS).unref()
  }

  #counted(answer: Answer): readonly Row[] | number {
    if (!('affectedRows' in answer)) return answer
    this.#rowsChanged += answer.affectedRows
    return answer.affectedRows
  }

  #groups(rows: readonly string[]): readonly (readonly string[])[] {
    return groupsWithin(rows, (row) => Buffer.byteLength(row), this.rowBytesMax)
  }

  #query(sql: string, timeout: number, firstTimeoutMs?: number): Promise<unknown> {
    this.#answered = 0
    if (this.#isBroken) return Promise.reject(new UnsentError('lost', 'the connection has ended'))
    if (this.#isTooLarge(sql)) {
      // The server would close the connection, which looks like a network that fails again and again.
      return Promise.reject(new UnsentError('row', 'larger than max_allowed_packet', 1153))
    }
    return new Promise((resolve, reject) => {
      this.#rejectPending = reject
      const query = this.#connection.query({ sql, timeout, rowsAsArray: true }, (error, result) => {
        this.#rejectPending = undefined
        clearTimeout(firstTimer)
        if (error === null) {
          resolve(result)
          return
        }
        const hasBegun = firstTimeoutMs !== undefined && this.#answered > 0
        const failure = hasBegun ? toStall(toSqlError(error)) : toSqlError(error)
        if (endsSession(failure)) this.destroy()
        reject(failure)
      })
      const giveUp = () => this.#lost(new SqlError('timeout', 'the server has not answered in time'))
      const firstTimer = firstTimeoutMs === undefined ? undefined : setTimeout(giveUp, firstTimeoutMs)
      query.on('fields', () => {
        this.#answered += 1
        clearTimeout(firstTimer)
      })
    })
  }

  /** The driver does not answer what was under way when it is destroyed. */
  #lost(error: SqlError): void {
    this.destroy()
    this.#rejectPending?.(error)
    this.#rejectPending = undefined
  }

  #isTooLarge(sql: string): boolean {
    const room = this.#packetBytesMax - PACKET_OVERHEAD_BYTES
    return sql.length * UTF8_BYTES_PER_UNIT_MAX > room && Buffer.byteLength(sql) > room
  }
}

/**
 * The driver's own `destroy` only ends its stream, which its types do not show: on a network that swallows everything what
 * is unsent would stay in memory and the socket open for minutes, and a server that is reached again would wait for more.
 */
function reset(connection: Connection): void {
  const { stream } = connection as unknown as { readonly stream: Socket }
  if (stream.destroyed) return
  // There is no reset of TLS, nor of what is not connected yet or has said its end.
  if (stream instanceof TLSSocket || stream.connecting || stream.writableEnded) stream.destroy()
  else stream.resetAndDestroy()
}
