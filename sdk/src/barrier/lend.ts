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
}

/** Lends a connection to several effects, one after another. Each of them has an order of its own. */
export function createLender<Connection extends object>(
  connection: Connection,
  createOrder: () => StatementOrder,
): Lender<Connection> {
  let isOver = false
  let last: Lease<Connection> | undefined
  return {
    lend: async (work) => {
      const lent = lease(connection, createOrder())
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
  }
}
