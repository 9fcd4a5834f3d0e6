import {
  commitsByItself,
  execute,
  hasErrno,
  isInTransaction,
  type MysqlConnection,
} from '../../barrier/mysql/mysql-connection.ts'
import { LOCK_WAIT_MS } from '../lock-wait.ts'

/**
 * Sets how long the statements of one connection wait for locks. The setting belongs to the session, and outlives
 * transactions.
 */
export interface LockWaits {
  /** Lowers the wait to LOCK_WAIT_MS. Resolves with whether the session is in autocommit mode. */
  shorten(): Promise<boolean>
  /** Restores the wait that the connection came with. */
  restore(): Promise<void>
  /**
   * Restores that wait, and resolves with whether the connection is in a transaction. The answer to the same statement
   * tells that, so no further statement is needed.
   */
  restoreAndAsk(): Promise<boolean>
}

// The former value is kept in a variable of the session. MySQL 9 refuses an expression in place of the number.
const SHORTEN = `SET @counterstep_lock_wait = @@SESSION.innodb_lock_wait_timeout,
  SESSION innodb_lock_wait_timeout = ${LOCK_WAIT_MS / 1_000}`
const RESTORE = 'SET SESSION innodb_lock_wait_timeout = @counterstep_lock_wait'

export function createLockWaits(connection: MysqlConnection): LockWaits {
  let isShort = false
  let isAutocommit = false
  return {
    shorten: async () => {
      if (isShort) return isAutocommit
      isShort = true
      isAutocommit = commitsByItself(await execute(connection, SHORTEN))
      return isAutocommit
    },
    restore: async () => {
      if (isShort) await execute(connection, RESTORE)
      isShort = false
    },
    restoreAndAsk: async () => {
      const done = await execute(connection, isShort ? RESTORE : 'DO 0')
      isShort = false
      return isInTransaction(done)
    },
  }
}

const LOCK_WAIT_TIMEOUT: ReadonlySet<unknown> = new Set([1205])

export function hasWaitedInVain(error: unknown): boolean {
  return hasErrno(error, LOCK_WAIT_TIMEOUT)
}
