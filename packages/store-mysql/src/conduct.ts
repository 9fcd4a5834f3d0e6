import type { AtOnce } from './commit-at-once.ts'
import type { Work } from './database-transactions.ts'
import type { Row, Session } from './session.ts'

export type Answer = readonly Row[] | number

/** How a database transaction goes over the wire: it is another on a connection of its own than behind a proxy that lends connections. */
export interface Conduct {
  /** What stands in a statement, written down before its database transaction has begun, for the instant of this. */
  readonly nowText: string
  /** The server's clock at the beginning, and its variables that must be off for it to take a write. */
  begin(session: Session, timeoutMs: number): Promise<Row>
  /** Statements in which `nowText` stands for this instant. */
  runNow(session: Session, now: number, statements: readonly string[]): Promise<readonly Answer[]>
  /** Absent: each goes step by step. */
  readonly atOnce?: <T>(
    session: Session,
    atOnce: AtOnce<T>,
    timeoutMs: number,
  ) => Promise<Work<T> | undefined>
}
