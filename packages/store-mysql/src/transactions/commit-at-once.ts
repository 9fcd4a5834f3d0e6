import { STATEMENTS } from '../generated/sql.ts'
import { isOfStatement, isRefusedCommit, SqlError } from '../sessions/server-errors.ts'
import type { Row, Session } from '../sessions/session.ts'
import { fill, statementOf } from '../sessions/statement.ts'
import type { Work } from './database-transactions.ts'
import { NOW_MARK, NOW_SQL } from './now-mark.ts'

/** A whole database transaction whose statements are known before it begins, and may be sent again. */
export interface AtOnce<T> {
  /** An insert comes last: behind it the server has the instant no more. */
  readonly statements: readonly Counted[]
  /** What it has come to. */
  readonly done: (now: number) => Work<T>
}

export interface Counted {
  /** With the mark of the instant. */
  readonly sql: string
  /** So many rows it changes, or nothing is committed. Absent: of itself it changes all or fails. */
  readonly changes?: number
}

/** The COMMIT was sent, and nobody has said what became of it. */
export class CommitInDoubt extends Error {
  override readonly cause: SqlError

  constructor(cause: SqlError) {
    super(cause.message)
    this.name = 'CommitInDoubt'
    this.cause = cause
  }
}

const GUARD = statementOf(STATEMENTS.guard)

/**
 * From the server's clock to the COMMIT in one packet. Nothing, with the session as new, where the rows are not as their
 * writers knew them, or one cannot be written: whoever takes it step by step finds which.
 *
 * A packet that arrives after its writer has given it up, or has sent the same again, does no harm: an update's row then
 * has another version, which is never issued twice, and a create's gid is there, unless the packet has outlived its
 * connection by the retention.
 */
export async function commitAtOnce<T>(
  session: Session,
  { statements, done }: AtOnce<T>,
  probeTimeoutMs: number,
): Promise<Work<T> | undefined> {
  const marked = statements.flatMap(guarded)
  const packet = [STATEMENTS.setNow, ...marked.map((sql) => sql.replaceAll(NOW_MARK, NOW_SQL)), 'COMMIT']
  try {
    const answers = await session.packet(packet, probeTimeoutMs)
    const [[now] = []] = answers[0] as readonly Row[]
    return done(Number(now))
  } catch (error: unknown) {
    if (!(error instanceof SqlError)) throw error
    const isCommitNext = session.answered === packet.length - 1
    if (!isCertain(error, isCommitNext)) {
      // What it is doing nobody can say; the server may go on to the COMMIT without a listener.
      session.destroy()
      throw new CommitInDoubt(isCommitNext ? ofCommit(error) : error)
    }
    if (error.fault !== 'duplicate' && error.fault !== 'row') throw error
    await session.run('ROLLBACK')
    return undefined
  }
}

function guarded({ sql, changes }: Counted): readonly string[] {
  return changes === undefined ? [sql] : [sql, fill(GUARD, [changes])]
}

/**
 * Nothing was committed, nor will be. An error ends the packet: that of a statement before the COMMIT proves that this was
 * not reached. Silence, or the connection's end, proves nothing once the packet has left, whatever was answered before.
 */
function isCertain(error: SqlError, isCommitNext: boolean): boolean {
  return isRefusedCommit(error) || (isOfStatement(error) && !isCommitNext)
}

/** A COMMIT waits for the disk or for a replica, and not behind the locks of rows. */
function ofCommit({ fault, message, errno, code }: SqlError): SqlError {
  if (fault === 'stall') return new SqlError('timeout', message, errno, code)
  // Of a COMMIT these say nothing of a row, and they must not be taken for certain.
  const known = fault === 'row' || fault === 'duplicate' ? 'unavailable' : fault
  return new SqlError(known, message, errno, code)
}
