import type { Socket } from 'node:net'
import { AssertionError, columnToText, textToColumn } from '@counterstep/core'
import { type PooledSession, type Row, SqlError, UnsentError } from '@counterstep/store-sql'
import type { DriverClient } from './driver-client.ts'
import { endsSession, toSqlError } from './server-errors.ts'

export type Value = string | number | null | readonly (string | number | null)[]

/** A statement with its values. */
export interface Query {
  readonly sql: string
  readonly values?: readonly Value[]
  /** The server keeps the plan of a statement with a name for the session. Behind a pooler no statement has one. */
  readonly name?: string
}

export interface Answer {
  readonly rows: readonly Row[]
  /** The rows that were changed, or read. */
  readonly count: number
}

/** The warning of a COMMIT that was not brought to a standby, though it has been done here. It has no code of its own. */
const WARNING = '01000'

/** One connection that is set up and checked. After an error that leaves its state unknown it is destroyed and not used again. */
export class Session implements PooledSession {
  idleSince = performance.now()
  readonly #client: DriverClient
  readonly #socket: Socket
  readonly #statementTimeoutMs: number
  readonly #keepsPlans: boolean
  #onEnd: (() => void) | undefined
  #isBroken = false
  #wasWarned = false
  #rejectPending: ((error: SqlError) => void) | undefined

  constructor(
    client: DriverClient,
    socket: Socket,
    { statementTimeoutMs, keepsPlans }: { statementTimeoutMs: number; keepsPlans: boolean },
  ) {
    this.#client = client
    this.#socket = socket
    this.#statementTimeoutMs = statementTimeoutMs
    this.#keepsPlans = keepsPlans
    client.on('error', (error) => this.#applyLoss(toSqlError(error)))
    client.on('end', () => {
      this.#applyLoss(new SqlError('lost', 'the server has closed the connection'))
      this.#onEnd?.()
    })
    client.on('notice', ({ code }) => {
      if (code === WARNING) this.#wasWarned = true
    })
  }

  /** Calls back once when the connection has ended. */
  onEnd(listener: () => void): void {
    this.#onEnd = listener
  }

  /** Calls back with the text of each notification of a channel that the session listens to. */
  onNotification(listener: (text: string) => void): void {
    this.#client.on('notification', ({ payload = '' }) => listener(payload))
  }

  get isBroken(): boolean {
    return this.#isBroken
  }

  async all(query: Query, timeoutMs?: number): Promise<readonly Row[]> {
    return (await this.send(query, timeoutMs)).rows
  }

  /** Throws a `SqlError`. The session is broken if that leaves its state unknown. */
  send({ sql, values = [], name }: Query, timeoutMs = this.#statementTimeoutMs): Promise<Answer> {
    if (this.#isBroken) return Promise.reject(new UnsentError('lost', 'the connection has ended'))
    this.#wasWarned = false
    const named = this.#keepsPlans && name !== undefined ? { name } : {}
    const config = { text: sql, values: values.map(toParameter), rowMode: 'array' as const, ...named }
    return new Promise((resolve, reject) => {
      this.#rejectPending = reject
      const giveUp = () => this.#applyLoss(new SqlError('timeout', 'the server has not answered in time'))
      const timer = setTimeout(giveUp, timeoutMs)
      this.#client.query(config).then(
        (result) => {
          clearTimeout(timer)
          if (this.#wasWarned) giveUpWarned(this, reject)
          else resolve({ rows: result.rows as readonly Row[], count: result.rowCount ?? 0 })
        },
        (thrown: unknown) => {
          clearTimeout(timer)
          const error = toSqlError(thrown)
          if (endsSession(error)) this.destroy()
          reject(error)
        },
      )
    })
  }

  destroy(): void {
    if (this.#isBroken) return
    this.#isBroken = true
    this.#reset()
  }

  /** Says goodbye, so that the server does not log a lost client. */
  end(): void {
    if (this.#isBroken) return
    this.#isBroken = true
    // An error here means that the connection has ended, as it should.
    this.#client.end().catch(() => this.#reset())
  }

  /**
   * Resets the connection, so that on a network that loses every packet no unsent byte stays in memory and no socket stays open
   * for minutes.
   */
  #reset(): void {
    if (this.#socket.destroyed) return
    // TLS has no reset, nor has a socket that is not connected yet or has already ended its side.
    if (this.#client.ssl || this.#socket.connecting || this.#socket.writableEnded) this.#socket.destroy()
    else this.#socket.resetAndDestroy()
  }

  #applyLoss(error: SqlError): void {
    this.destroy()
    this.#rejectPending?.(error)
    this.#rejectPending = undefined
  }
}

/** The COMMIT was done here and not on the standby, which an acknowledgement would promise. */
function giveUpWarned(session: Session, reject: (error: SqlError) => void): void {
  session.destroy()
  reject(new SqlError('unavailable', 'the server did not wait for its standby', 0, WARNING))
}

function toParameter(value: Value): unknown {
  return Array.isArray(value) ? value.map(toCell) : toCell(value)
}

/** PostgreSQL holds no NUL in a text. The driver would turn a value of any other type into some text, so it is refused. */
function toCell(value: unknown): string | number | null {
  if (typeof value === 'string') return textToColumn(value)
  if (value === null || typeof value === 'number') return value
  throw new AssertionError(`a value of the type ${typeof value} in a statement`)
}

/** The types of columns by PostgreSQL's numbers for them. Every whole number that the store keeps is a safe one. */
const WHOLE_NUMBERS: ReadonlySet<number> = new Set([20, 21, 23])
const TEXT = 25

export function getTypeParser(type: number): (cell: string) => unknown {
  if (WHOLE_NUMBERS.has(type)) return Number
  return type === TEXT ? columnToText : String
}
