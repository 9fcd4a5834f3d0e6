import type { Row } from '@counterstep/store-sql'
import type { Session } from '../sessions/session.ts'

/** A database transaction under way: its session, and the server's clock at its beginning. */
export interface Tx {
  readonly session: Session
  readonly now: number
  /** The session's count at the beginning. */
  readonly rowsChangedBefore: number
  /** Runs statements that hold `NOW_MARK`. */
  readonly runNow: (statements: readonly string[]) => Promise<readonly Answer[]>
}

/** The result of a database transaction. The caller gets the value only after the COMMIT. */
export interface Work<T> {
  readonly value: T
  readonly rows: number
}

/** The rows that a statement has read, or how many it has changed. */
export type Answer = readonly Row[] | number

/** A whole database transaction whose statements are known before it begins, and which may be sent again. */
export interface AtOnce<T> {
  /** An insert comes last, because the server no longer has the instant after it. */
  readonly statements: readonly CountedStatement[]
  /** Makes the result from the server's clock. */
  readonly toWork: (now: number) => Work<T>
}

export interface CountedStatement {
  /** It may hold `NOW_MARK`. */
  readonly sql: string
  /**
   * The statement must change exactly this many rows, or nothing is committed. Absent: it changes all of its rows or
   * fails.
   */
  readonly changes?: number
}

/**
 * How a database transaction is sent: as packets of several statements on a connection of our own, or one statement at a
 * time through a proxy that lends connections (RDS Proxy).
 */
export interface TransactionProtocol {
  /** Reads the server's clock, and the variables that must be off if the server is to take a write. */
  begin(session: Session, timeoutMs: number): Promise<Row>
  /** Runs statements with this instant in the place of `NOW_MARK`. */
  runNow(session: Session, now: number, statements: readonly string[]): Promise<readonly Answer[]>
  /** Throws a `SqlError` with the fault `read-only`, and commits nothing, if it sees that the server is a former primary. */
  commit(session: Session): Promise<void>
  /** Sends the whole transaction in one packet. Absent: each transaction goes step by step. */
  readonly commitAtOnce?: <T>(
    session: Session,
    atOnce: AtOnce<T>,
    timeoutMs: number,
  ) => Promise<Work<T> | undefined>
}

/**
 * Stands for the instant of a database transaction in a statement that is written before the transaction begins.
 * literal.ts lets no such character into a statement, so it stands only where the texts have it.
 */
export const NOW_MARK = '\0'

/** The instant as create.sql and update.sql name it. */
export const NOW_SQL = 'LAST_INSERT_ID()'

export function withNowMark(sql: string): string {
  return sql.replaceAll(NOW_SQL, NOW_MARK)
}
