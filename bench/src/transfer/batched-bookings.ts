import { setImmediate as turn } from 'node:timers/promises'
import type { Pool, PoolConnection } from 'mysql2/promise'
import type { BankTables } from './bank-tables.ts'
import type { Booking } from './book.ts'
import { inTransaction } from './in-transaction.ts'
import { insertNotes } from './insert-notes.ts'

/** Far more than the gateway has callers. */
const WAITING_CALLS_MAX = 1_000

interface Waiting {
  readonly booking: Booking
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * Groups of calls by hand: what comes while a database transaction is under way, and what one turn of the event loop
 * brings, becomes the next one, of three statements however many calls it is for. No answer is kept, no balance looked
 * at, and a call that was there is an error.
 */
export class BatchedBookings {
  readonly #pool: Pool
  readonly #tables: BankTables
  #waiting: Waiting[] = []
  #isUnderWay = false

  constructor(pool: Pool, tables: BankTables) {
    this.#pool = pool
    this.#tables = tables
  }

  /** Resolves when it is committed. */
  book(booking: Booking): Promise<void> {
    if (this.#waiting.length === WAITING_CALLS_MAX) throw new Error(`${WAITING_CALLS_MAX} calls are waiting`)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ booking, resolve, reject })
      if (!this.#isUnderWay) void this.#bookAll()
    })
  }

  async #bookAll(): Promise<void> {
    this.#isUnderWay = true
    while (this.#waiting.length > 0) {
      await turn()
      const batch = this.#waiting
      this.#waiting = []
      try {
        await inTransaction(this.#pool, (tx) =>
          this.#write(
            tx,
            batch.map(({ booking }) => booking),
          ),
        )
        for (const { resolve } of batch) resolve()
      } catch (error: unknown) {
        for (const { reject } of batch) reject(error)
      }
    }
    this.#isUnderWay = false
  }

  async #write(tx: PoolConnection, bookings: readonly Booking[]): Promise<void> {
    const { account: accounts, ledger } = this.#tables
    const inOrder = bookings.toSorted((a, b) => a.account - b.account)
    await insertNotes(tx, this.#tables, inOrder)
    const rows = inOrder.map(({ account, cents, gid, branchId }) => [account, cents, gid, branchId])
    await tx.query(`INSERT INTO ${ledger} (account, cents, gid, branch_id) VALUES ?`, [rows])
    const additions = inOrder.map(({ account, cents }) => [account, cents])
    await tx.query(
      `INSERT INTO ${accounts} (id, cents) VALUES ? ON DUPLICATE KEY UPDATE cents = cents + VALUES(cents)`,
      [additions],
    )
  }
}
