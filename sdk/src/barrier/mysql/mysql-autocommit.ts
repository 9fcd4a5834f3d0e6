import { commitsByItself, execute, type MysqlConnection, type MysqlDone } from './mysql-connection.ts'

/**
 * Turns autocommit off while an effect sends statements that do not wait for each other.
 *
 * InnoDB rolls back the whole transaction of a deadlock's victim. mysql2 then sends the statement that is next in its queue, before the
 * effect learns of the deadlock. With autocommit on, that statement would be committed alone, and once more when the call runs again. With
 * autocommit off it begins another transaction, which the ROLLBACK of the call ends.
 */
export interface AutocommitSwitch {
  /** Sends the statement that turns it off, before all that is sent later. Does it once. */
  turnOff(): void
  /** Throws the error of that statement. */
  confirm(): Promise<void>
  /** Turns it on again, outside of the transaction, since this would commit an open one. */
  restore(): Promise<void>
}

/** `begun` is the answer to the statement that began the transaction. */
export function createAutocommitSwitch(connection: MysqlConnection, begun: MysqlDone): AutocommitSwitch {
  let turned: Promise<unknown> | undefined
  return {
    turnOff: () => {
      if (turned !== undefined || !commitsByItself(begun)) return
      turned = execute(connection, 'SET autocommit = 0')
      // Its error is thrown by `confirm` and `restore`.
      turned.catch((error: unknown) => error)
    },
    confirm: async () => {
      await turned
    },
    restore: async () => {
      if (turned === undefined) return
      await turned
      await execute(connection, 'SET autocommit = 1')
    },
  }
}
