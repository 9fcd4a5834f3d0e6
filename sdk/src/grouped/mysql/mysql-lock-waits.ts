import {
  commitsByItself,
  execute,
  hasErrno,
  isInTransaction,
  type MysqlConnection,
} from '../../barrier/mysql/mysql-connection.ts'
import { LOCK_WAIT_MS } from '../lock-wait.ts'

/** How long the statements of one connection wait for locks. The setting is the session's, and outlives transactions. */
export interface LockWaits {
  /** From now on at most LOCK_WAIT_MS. Resolves with whether the session commits by itself what is in no transaction. */
  shorten(): Promise<boolean>
  /** As the connection came. */
  restore(): Promise<void>
  /** The same, and with its answer whether the connection is in a transaction: so to ask costs no statement more. */
  restoreAndAsk(): Promise<boolean>
}

// The former value stays with the session. An expression in place of the number is refused by MySQL 9 as no integer.
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
