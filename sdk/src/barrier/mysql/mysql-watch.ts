import { assertKeepsTransaction } from '../statement-guard.ts'
import { type StatementOrder, watchOrder } from '../statement-order.ts'
import {
  commitsByItself,
  execute,
  hasBegun,
  hasErrno,
  isDone,
  type MysqlConnection,
  type MysqlDone,
  toTransactionLostError,
} from './mysql-connection.ts'

const SAVEPOINT = 'counterstep_barrier'
const NO_SUCH_SAVEPOINT: ReadonlySet<unknown> = new Set([1305])

/**
 * Watches over the transaction that effects run in.
 *
 * InnoDB rolls back the whole transaction of a deadlock's victim. mysql2 then sends the statement that is next in its queue, before the
 * effect learns of the deadlock. With autocommit on, that statement would be committed alone, and once more when the call runs again. So
 * autocommit is turned off while an effect sends statements that do not wait for each other: that statement then begins another
 * transaction, which the ROLLBACK of the call ends.
 */
export interface TransactionWatch {
  /** Makes the order of one effect, which refuses its statements when they would end the transaction, or when it has ended. */
  createOrder(): StatementOrder
  /**
   * Tells after an effect whether the transaction has ended. Without autocommit the server says of any transaction that it is open, so
   * a savepoint tells it. It asks nothing if none had to be set. With autocommit the loss of the savepoint alone says nothing: one that
   * a stored procedure had set before may have taken it along. The barrier's last statement finds the rest by its row, and by what the
   * server says of the transaction.
   */
  isLost(): Promise<boolean>
  /** Turns autocommit on again, outside of the transaction, since this would commit an open one. */
  restore(): Promise<void>
}

/** `begun` is the answer to the statement that began the transaction. */
export function watchTransaction(connection: MysqlConnection, begun: MysqlDone): TransactionWatch {
  let isEnded = false
  let turnedOff: Promise<MysqlDone> | undefined
  let saved: Promise<MysqlDone> | undefined
  const send = (sql: string): Promise<MysqlDone> => {
    const sent = execute(connection, sql)
    // Its error is thrown by `isLost` or `restore`.
    sent.catch((error: unknown) => error)
    return sent
  }
  // An effect's own savepoint that is released or rolled back to takes all later ones along, so this one has to be set before.
  const save = (): void => {
    saved ??= send(`SAVEPOINT ${SAVEPOINT}`)
  }
  const turnOff = (): void => {
    if (commitsByItself(begun)) turnedOff ??= send('SET autocommit = 0')
    save()
  }
  const askSavepoint = async (): Promise<boolean> => {
    if (turnedOff !== undefined && !hasBegun(await turnedOff)) return true
    if (saved === undefined) return false
    const answer = await saved
    saved = undefined
    if (!hasBegun(answer)) return true
    try {
      await execute(connection, `RELEASE SAVEPOINT ${SAVEPOINT}`)
      return false
    } catch (error: unknown) {
      if (hasErrno(error, NO_SUCH_SAVEPOINT)) return turnedOff !== undefined || !commitsByItself(begun)
      throw error
    }
  }
  const noteAnswer = (answer: unknown): void => {
    if (listDone(answer).some((done) => !hasBegun(done))) isEnded = true
  }
  return {
    createOrder: () => {
      const order = watchOrder({ beforeUnordered: turnOff, noteAnswer })
      return {
        ...order,
        send: (method, values, call) => {
          const openings = assertKeepsTransaction(method, values, 'mysql')
          if (isEnded) throw toTransactionLostError('the effect goes on after it has ended its transaction')
          if (openings.some(([word]) => word === 'SAVEPOINT')) save()
          return order.send(method, values, call)
        },
      }
    },
    isLost: async () => {
      isEnded ||= await askSavepoint()
      return isEnded
    },
    restore: async () => {
      if (turnedOff === undefined) return
      await turnedOff
      await execute(connection, 'SET autocommit = 1')
    },
  }
}

/** Lists the answers without rows. Rows are left out, since a column of theirs may have any name. */
function listDone(answer: unknown): readonly MysqlDone[] {
  if (!Array.isArray(answer)) return isDone(answer) ? [answer] : []
  // A column may be called `constructor`, too.
  return answer
    .filter(isDone)
    .filter((done) => Object.getPrototypeOf(done)?.constructor?.name === 'ResultSetHeader')
}
