import type { Socket } from 'node:net'
import { type PooledSession, type Row, SqlError, toStall, UnsentError } from '@counterstep/store-sql'
import type { Connection } from 'mysql2'
import { countAnswers } from './answered-statements.ts'
import type { Value } from './literal.ts'
import { endsSession, toSqlError } from './server-errors.ts'
import { fillRows, groupRows, type RowsStatement } from './statement.ts'

type Answer = readonly Row[] | { readonly affectedRows: number }

/** Room for the packet's own bytes beside the bytes of the statement. */
const PACKET_OVERHEAD_BYTES = 1_024
const UTF8_BYTES_PER_UNIT_MAX = 3
/** The server's time to end the connection after we have said goodbye. */
const GOODBYE_MS = 1_000

/** One connection that is set up and checked. After an error that leaves its state unknown it is destroyed and not used again. */
export class Session implements PooledSession {
  readonly #connection: Connection
  readonly #socket: Socket
  readonly #statementTimeoutMs: number
  #packetBytesMax = Number.POSITIVE_INFINITY
  /** Bounds the rows of one statement together. More rows are divided among several statements. */
  rowBytesMax = Number.POSITIVE_INFINITY
  #isBroken = false
  #rejectPending: ((error: SqlError) => void) | undefined
  /** A timestamp of the monotonic clock that the pool sets. */
  idleSince = 0
  #rowsChanged = 0
  #answered = 0

  /** The connection was made with this socket. */
  constructor(connection: Connection, socket: Socket, statementTimeoutMs: number) {
    this.#connection = connection
    this.#socket = socket
    this.#statementTimeoutMs = statementTimeoutMs
    // The end of an idle connection arrives as an event, which would end the process if it had no listener.
    connection.on('error', (error) => this.#applyLoss(toSqlError(error)))
    connection.on('end', () => this.#applyLoss(new SqlError('lost', 'the server has closed the connection')))
  }

  get isBroken(): boolean {
    return this.#isBroken
  }

  /** Counts the rows that all its statements have changed so far. */
  get rowsChanged(): number {
    return this.#rowsChanged
  }

  /** Counts the answered statements of the last packet. A statement that returns rows counts as soon as they begin. */
  get answered(): number {
    return this.#answered
  }

  set packetBytesMax(bytes: number) {
    this.#packetBytesMax = bytes
  }

  async all(sql: string, timeoutMs = this.#statementTimeoutMs): Promise<readonly Row[]> {
    return (await this.#query(sql, timeoutMs)) as readonly Row[]
  }

  /** Returns the number of rows that the statement has changed. */
  async run(sql: string, timeoutMs = this.#statementTimeoutMs): Promise<number> {
    const { affectedRows } = (await this.#query(sql, timeoutMs)) as { affectedRows: number }
    this.#rowsChanged += affectedRows
    return affectedRows
  }

  /** Reads all these rows, in as many statements as their bytes need. */
  async readRows(statement: RowsStatement, rows: readonly string[]): Promise<readonly Row[]> {
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

  /** Sends each statement after the answer to the one before. Returns for each its rows, or how many it has changed. */
  async sendOneByOne(statements: readonly string[]): Promise<readonly (readonly Row[] | number)[]> {
    const answers: (readonly Row[] | number)[] = []
    for (const sql of statements) {
      answers.push(this.#countChanges((await this.#query(sql, this.#statementTimeoutMs)) as Answer))
    }
    return answers
  }

  /**
   * Sends several statements in one packet, which the server does one after the other until one fails. Returns for each
   * its rows, or how many it has changed. The first must be answered within `firstTimeoutMs`, if given. Only a session that
   * was opened for several statements can do this.
   */
  async sendPacket(
    statements: readonly string[],
    firstTimeoutMs?: number,
  ): Promise<readonly (readonly Row[] | number)[]> {
    const sql = statements.join(';')
    const answers = (await this.#query(sql, this.#statementTimeoutMs, firstTimeoutMs)) as readonly Answer[]
    return answers.map((answer) => this.#countChanges(answer))
  }

  destroy(): void {
    if (this.#isBroken) return
    this.#isBroken = true
    this.#reset()
    this.#connection.destroy()
  }

  /** Says goodbye, so that the server does not log a lost client. */
  end(): void {
    if (this.#isBroken) return
    this.#isBroken = true
    // The driver calls back before it has said goodbye. An error here means that the connection has ended, as it should.
    this.#connection.end(() => undefined)
    setTimeout(() => this.#reset(), GOODBYE_MS).unref()
  }

  /**
   * Resets the connection, because the driver's own `destroy` only ends its socket. On a network that loses every packet the
   * unsent bytes would stay in memory and the socket open for minutes, and a server that is reached again would wait for more.
   */
  #reset(): void {
    const socket = this.#socket
    if (socket.destroyed) return
    // TLS has no reset, nor has a socket that is not connected yet or has already ended its side.
    const { ssl } = this.#connection.config
    if (ssl || socket.connecting || socket.writableEnded) socket.destroy()
    else socket.resetAndDestroy()
  }

  #countChanges(answer: Answer): readonly Row[] | number {
    if (!('affectedRows' in answer)) return answer
    this.#rowsChanged += answer.affectedRows
    return answer.affectedRows
  }

  #groups(rows: readonly string[]): readonly (readonly string[])[] {
    return groupRows(rows, (row) => Buffer.byteLength(row), this.rowBytesMax)
  }

  #query(sql: string, timeout: number, firstTimeoutMs?: number): Promise<unknown> {
    this.#answered = 0
    if (this.#isBroken) return Promise.reject(new UnsentError('lost', 'the connection has ended'))
    if (this.#isTooLarge(sql)) {
      // The server would close the connection, which would look like a network that fails again and again.
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
      const giveUp = () => this.#applyLoss(new SqlError('timeout', 'the server has not answered in time'))
      const firstTimer = firstTimeoutMs === undefined ? undefined : setTimeout(giveUp, firstTimeoutMs)
      countAnswers(query, () => {
        this.#answered += 1
        clearTimeout(firstTimer)
      })
    })
  }

  /** Rejects the query under way, because a destroyed driver does not answer it. */
  #applyLoss(error: SqlError): void {
    this.destroy()
    this.#rejectPending?.(error)
    this.#rejectPending = undefined
  }

  #isTooLarge(sql: string): boolean {
    const room = this.#packetBytesMax - PACKET_OVERHEAD_BYTES
    return sql.length * UTF8_BYTES_PER_UNIT_MAX > room && Buffer.byteLength(sql) > room
  }
}
