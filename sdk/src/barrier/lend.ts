import { BranchError } from '../branch/branch-errors.ts'
import { type Lease, lease } from './lease.ts'
import type { StatementOrder } from './statement-order.ts'

/**
 * Lends the connection of a transaction to one effect, and takes it back as soon as the effect has settled. Whatever a part of the effect
 * has sent until then stands before the barrier's next statement, which notices if it ended the transaction.
 */
export type Lend<Connection> = <T>(work: (handle: Connection) => T | PromiseLike<T>) => Promise<T>

export interface Lender<Connection> {
  readonly lend: Lend<Connection>
  /** Takes the connection back for good. It has to be called before the connection is given to another borrower. */
  end(): void
  /**
   * Throws BARRIER_TRANSACTION_LOST if a part of an effect has asked for a statement after the effect had settled, or if a statement
   * has failed that nothing waited for. It has to be called right before COMMIT: such a statement did nothing, and the rest may not stand
   * alone.
   */
  assertNoneLate(): void
}

/** Lends a connection to several effects, one after another. Each of them has an order of its own. */
export function createLender<Connection extends object>(
  connection: Connection,
  createOrder: () => StatementOrder,
): Lender<Connection> {
  let isOver = false
  let isLate = false
  let last: Lease<Connection> | undefined
  const orders: StatementOrder[] = []
  const noteLate = (): void => {
    isLate = true
  }
  return {
    lend: async (work) => {
      const order = createOrder()
      orders.push(order)
      const lent = lease(connection, order, noteLate)
      last = lent
      if (isOver) lent.end()
      try {
        return await work(lent.handle)
      } finally {
        lent.end()
      }
    },
    end: () => {
      isOver = true
      last?.end()
    },
    assertNoneLate: () => {
      if (isLate) throw toForgottenError('a part of the effect sent a statement after the effect had settled')
      if (orders.some((order) => order.hasForgotten?.() === true))
        throw toForgottenError('a statement has failed that nothing waited for')
    },
  }
}

function toForgottenError(found: string): BranchError {
  return new BranchError(
    'BARRIER_TRANSACTION_LOST',
    `${found}, so all of it is rolled back: an await was forgotten`,
  )
}
