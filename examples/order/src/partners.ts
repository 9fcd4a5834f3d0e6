import { DatabaseSync } from 'node:sqlite'
import type { Branch } from '@counterstep/sdk'
import { migrateBarrier, sqliteBarrier } from '@counterstep/sdk/barrier/sqlite'
import { branchHandler } from '@counterstep/sdk/fastify'
import fastify from 'fastify'

const TABLES = `
  CREATE TABLE payment (id INTEGER PRIMARY KEY, cents INTEGER NOT NULL) STRICT;
  CREATE TABLE parcel (id INTEGER PRIMARY KEY, sku TEXT NOT NULL) STRICT`

export interface Partners {
  readonly url: string
  stop(): Promise<void>
}

/** A bank and a carrier in one service with a database of its own. Each could be any HTTP service. */
export async function startPartners(
  file: string,
  print: (who: string, text: string) => void,
): Promise<Partners> {
  const database = new DatabaseSync(file)
  migrateBarrier(database)
  database.exec(TABLES)
  const barrier = sqliteBarrier(database)
  const app = fastify({ forceCloseConnections: true, logger: { level: 'error', stream: process.stderr } })

  const charge = (tx: DatabaseSync, { payload }: Branch<{ cents: number }>) => {
    print('bank', `takes ${money(payload.cents)}`)
    const { lastInsertRowid } = tx.prepare('INSERT INTO payment (cents) VALUES (?)').run(payload.cents)
    return { paymentId: Number(lastInsertRowid) }
  }
  // The barrier hands over what the charge has answered.
  const refund = (tx: DatabaseSync, { original }: Branch<unknown, { paymentId: number }>) => {
    if (original === undefined) throw new Error('a refund came without its charge')
    const payment = tx.prepare('DELETE FROM payment WHERE id = ? RETURNING cents').get(original.paymentId)
    print('bank', `gives ${money(Number(payment?.cents))} back`)
  }
  const ship = (tx: DatabaseSync, { payload }: Branch<{ sku: string }>) => {
    print('carrier', `fetches the ${payload.sku}`)
    const { lastInsertRowid } = tx.prepare('INSERT INTO parcel (sku) VALUES (?)').run(payload.sku)
    return { parcelId: Number(lastInsertRowid) }
  }
  app.post('/charges', branchHandler(barrier, charge))
  app.post('/refunds', branchHandler(barrier, refund))
  app.post('/parcels', branchHandler(barrier, ship))

  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const stop = async () => {
    await app.close()
    database.close()
  }
  return { url, stop }
}

export function money(cents: number): string {
  return (cents / 100).toFixed(2)
}
