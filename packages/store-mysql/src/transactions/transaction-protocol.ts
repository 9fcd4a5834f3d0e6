import type { Row, Session } from '../sessions/session.ts'
import type { AtOnce } from './commit-at-once.ts'
import type { Work } from './database-transactions.ts'

export type Answer = readonly Row[] | number

/** How a database transaction goes over the wire: it is another on a connection of its own than behind a proxy that lends connections. */
export interface Conduct {
  /** The server's clock at the beginning, and its variables that must be off for it to take a write. */
  begin(session: Session, timeoutMs: number): Promise<Row>
  /** Statements with `NOW_MARK` in the place of this instant. */
  runNow(session: Session, now: number, statements: readonly string[]): Promise<readonly Answer[]>
  /** Throws a `SqlError` with fault `read-only`, and has committed nothing, where it has seen that the server is a former primary by now. */
  commit(session: Session): Promise<void>
  /** Absent: each goes step by step. */
  readonly atOnce?: <T>(
    session: Session,
    atOnce: AtOnce<T>,
    timeoutMs: number,
  ) => Promise<Work<T> | undefined>
}
