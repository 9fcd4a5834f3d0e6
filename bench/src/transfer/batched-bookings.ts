import type { Pool, PoolConnection, ResultSetHeader } from 'mysql2/promise'
import type { BankTables } from './bank-tables.ts'
import type { Booking } from './book.ts'
import { inTransaction } from './in-transaction.ts'

interface Waiting {
  readonly booking: Booking
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * The grouped barrier by hand: what comes while a database transaction is under way becomes the next one, of three
 * statements however many calls it is for. No call is ever repeated here, and none refused: it looks for neither.
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
    return new Promise((resolve, reject) => {
      this.#waiting.push({ booking, resolve, reject })
      if (!this.#isUnderWay) void this.#bookAll()
    })
  }

  async #bookAll(): Promise<void> {
    this.#isUnderWay = true
    while (this.#waiting.length > 0) {
      const batch = this.#waiting
      this.#waiting = []
      try {
        await inTransaction(this.#pool, (tx) => this.#write(tx, batch))
        for (const { resolve } of batch) resolve()
      } catch (error: unknown) {
        for (const { reject } of batch) reject(error)
      }
    }
    this.#isUnderWay = false
  }

  async #write(tx: PoolConnection, batch: readonly Waiting[]): Promise<void> {
    const { account: accounts, ledger, barrier } = this.#tables
    const bookings = batch.map(({ booking }) => booking).sort((a, b) => a.account - b.account)
    const now = Date.now()
    const notes = bookings.map(({ gid, branchId }) => [gid, branchId, 'action', '01', 'action', now])
    const rows = bookings.map(({ account, cents, gid, branchId }) => [account, cents, gid, branchId])
    const additions = bookings.map(({ account, cents }) => [account, cents])
    const [noted] = await tx.query<ResultSetHeader>(
      `INSERT IGNORE INTO ${barrier} (gid, branch_id, op, barrier_id, reason, created_at) VALUES ?`,
      [notes],
    )
    if (noted.affectedRows !== batch.length) throw new Error('a call that was there')
    await tx.query(`INSERT INTO ${ledger} (account, cents, gid, branch_id) VALUES ?`, [rows])
    await tx.query(
      `INSERT INTO ${accounts} (id, cents) VALUES ? ON DUPLICATE KEY UPDATE cents = cents + VALUES(cents)`,
      [additions],
    )
  }
}
