import type { DatabaseSync } from 'node:sqlite'
import { BranchFailure, endpoint, signal, step, workflow } from '@counterstep/sdk'
import { migrateBarrier, sqliteBarrier } from '@counterstep/sdk/barrier/sqlite'

/** An order over this limit needs an approval. */
const LIMIT_CENTS = 50_000
const DAY_MS = 86_400_000

const TABLES = `
  CREATE TABLE IF NOT EXISTS reservation (id INTEGER PRIMARY KEY, sku TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS mail (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT`

export interface Order {
  readonly sku: string
  readonly cents: number
}

export const approval = signal<{ by: string; isApproved: boolean }>('approval')

/** The shop's own tables, and that of the barrier beside them. */
export function migrateShop(database: DatabaseSync): void {
  database.exec(TABLES)
  migrateBarrier(database)
}

// A local step runs in one database transaction with a row of the barrier, so it takes effect once.
const reserve = step('reserve', {
  do: (tx: DatabaseSync, { sku }: { sku: string }) => {
    console.log(`reserves a ${sku}`)
    const { lastInsertRowid } = tx.prepare('INSERT INTO reservation (sku) VALUES (?)').run(sku)
    return { reservationId: Number(lastInsertRowid) }
  },
  undo: (tx, { sku }, { reservationId }) => {
    console.log(`releases the ${sku}`)
    tx.prepare('DELETE FROM reservation WHERE id = ?').run(reservationId)
  },
})

const mail = step('mail', {
  do: (tx: DatabaseSync, { text }: { text: string }) => {
    console.log(`mails: ${text}`)
    tx.prepare('INSERT INTO mail (text) VALUES (?)').run(text)
  },
})

/** The workflow of a shop over its own database. The bank and the carrier are other services. */
export function createOrder(database: DatabaseSync, partnersUrl: string) {
  const charge = endpoint<{ cents: number }, { paymentId: number }, 'DECLINED'>(`${partnersUrl}/charges`)
  const refund = endpoint<void, void>(`${partnersUrl}/refunds`)
  const ship = endpoint<{ sku: string }, { parcelId: number }, 'TOO_BIG'>(`${partnersUrl}/parcels`)

  return workflow(
    'order',
    { version: 1, barrier: sqliteBarrier(database), steps: [reserve, mail] },
    async (ctx, { sku, cents }: Order) => {
      await ctx.step(reserve, { sku })
      await ctx.call('charge', charge, { payload: { cents }, undo: () => ({ to: refund }) })
      if (cents > LIMIT_CENTS) {
        const answer = await ctx.signal('approved', approval, { timeoutMs: DAY_MS })
        if (answer?.isApproved !== true) throw new BranchFailure('not approved', { code: 'NOT_APPROVED' })
      }
      const shipped = await ctx.pivot('ship', ship, { payload: { sku } })
      await shipped.ctx.step(mail, { text: `your ${sku} is parcel ${shipped.value.parcelId}` })
      return shipped.value
    },
  )
}
