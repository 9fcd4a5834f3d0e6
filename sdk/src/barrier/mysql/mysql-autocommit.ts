import {
  commitsByItself,
  execute,
  hasBegun,
  hasErrno,
  type MysqlConnection,
  type MysqlDone,
} from './mysql-connection.ts'

const SAVEPOINT = 'counterstep_barrier'
const NO_SUCH_SAVEPOINT: ReadonlySet<unknown> = new Set([1305])

/**
 * Turns autocommit off while an effect sends statements that do not wait for each other.
 *
 * InnoDB rolls back the whole transaction of a deadlock's victim. mysql2 then sends the statement that is next in its queue, before the
 * effect learns of the deadlock. With autocommit on, that statement would be committed alone, and once more when the call runs again. With
 * autocommit off it begins another transaction, which the ROLLBACK of the call ends.
 */
export interface AutocommitSwitch {
  /** Sends the statements that turn it off, before all that is sent later. Does it once. */
  turnOff(): void
  /**
   * Tells whether the transaction was ended since autocommit was turned off, or before. Without autocommit the server says of any
   * transaction that it is open, so a savepoint tells it. Resolves with false if autocommit was not turned off.
   */
  isTransactionLost(): Promise<boolean>
  /** Turns it on again, outside of the transaction, since this would commit an open one. */
  restore(): Promise<void>
}

/** `begun` is the answer to the statement that began the transaction. */
export function createAutocommitSwitch(connection: MysqlConnection, begun: MysqlDone): AutocommitSwitch {
  let turned: Promise<readonly [MysqlDone, MysqlDone]> | undefined
  return {
    turnOff: () => {
      if (turned !== undefined || !commitsByItself(begun)) return
      turned = Promise.all([
        execute(connection, 'SET autocommit = 0'),
        execute(connection, `SAVEPOINT ${SAVEPOINT}`),
      ])
      // Its error is thrown by the other two.
      turned.catch((error: unknown) => error)
    },
    isTransactionLost: async () => {
      if (turned === undefined) return false
      const [off] = await turned
      if (!hasBegun(off)) return true
      try {
        await execute(connection, `RELEASE SAVEPOINT ${SAVEPOINT}`)
        return false
      } catch (error: unknown) {
        if (hasErrno(error, NO_SUCH_SAVEPOINT)) return true
        throw error
      }
    },
    restore: async () => {
      if (turned === undefined) return
      await turned
      await execute(connection, 'SET autocommit = 1')
    },
  }
}
