import { setTimeout as delay } from 'node:timers/promises'
import { asOutcomeUnknown, SqlError, type SqlFault } from './sql-error.ts'

/** The COMMIT was sent, and it is unknown whether it was done. */
export class CommitInDoubt extends Error {
  override readonly cause: SqlError

  constructor(cause: SqlError) {
    super(cause.message)
    this.name = 'CommitInDoubt'
    this.cause = cause
  }
}

export interface RepeatOptions {
  readonly lockWaitRepeats: number
  readonly toStoreError: (error: SqlError) => Error
  readonly onRepeat: () => void
}

/** How often a database transaction is begun again after a fault of this kind. */
const REPEATS: Readonly<Partial<Record<SqlFault, number>>> = {
  repeat: 5,
  crowded: 5,
  lost: 2,
  'read-only': 1,
}
const PAUSE_MS_MAX = 20

/**
 * Runs a database transaction, and begins it again after the faults that pass. `once` throws a `SqlError` if nothing was
 * applied, and a `CommitInDoubt` if that is unknown and the same may be sent again. Every failure that is thrown says
 * whether the writes may have been applied.
 */
export async function repeatTransaction<T>(
  once: () => Promise<T>,
  { lockWaitRepeats, toStoreError, onRepeat }: RepeatOptions,
): Promise<T> {
  const left: Partial<Record<SqlFault, number>> = { ...REPEATS, 'lock-wait': lockWaitRepeats }
  // Any try may set it: if a later try was certainly not applied, that says nothing about an earlier one.
  let isInDoubt = false
  for (let repeats = 1; ; repeats++) {
    try {
      return await once()
    } catch (thrown: unknown) {
      isInDoubt ||= thrown instanceof CommitInDoubt
      const error = thrown instanceof CommitInDoubt ? thrown.cause : thrown
      const allowance = error instanceof SqlError ? (left[error.fault] ?? 0) : 0
      if (!(error instanceof SqlError) || allowance === 0) {
        const final = error instanceof SqlError ? toStoreError(error) : error
        throw isInDoubt ? asOutcomeUnknown(final) : final
      }
      left[error.fault] = allowance - 1
      onRepeat()
      // The pauses differ, so that transactions that have collided do not collide again. A lost connection needs none,
      // since it says nothing about others.
      const pauses = error.fault === 'repeat' || error.fault === 'crowded'
      if (pauses) await delay(Math.random() * PAUSE_MS_MAX * repeats)
    }
  }
}
