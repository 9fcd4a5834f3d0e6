import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Client, createClient } from '@counterstep/sdk'
import type { Express } from 'express'
import type { Pool as MysqlPool } from 'mysql2/promise'
import type { Pool as PostgresPool } from 'pg'
import { createCreditPool, migrateCreditDatabase } from '../credit-database.ts'
import { creditService } from '../credit-service.ts'
import { createDebitPool, migrateDebitDatabase } from '../debit-database.ts'
import { debitService } from '../debit-service.ts'
import type { ServiceUrls } from '../transfer.ts'
import type { Addresses } from './addresses.ts'
import { startCounterstep } from './start-counterstep.ts'

export interface Services extends ServiceUrls {
  readonly client: Client
}

type Stop = () => Promise<unknown>

/** Starts everything, and stops it again when `use` is done: the orchestrator first, so that its calls are answered. */
export async function withServices<Value>(
  addresses: Addresses,
  use: (services: Services) => Promise<Value>,
): Promise<Value> {
  const stops: Stop[] = []
  try {
    return await use(await startServices(addresses, (stop) => stops.unshift(stop)))
  } finally {
    for (const stop of stops) await stop()
  }
}

async function startServices(
  { mysqlUrl, postgresUrl, counterstepUrl }: Addresses,
  onStop: (stop: Stop) => void,
): Promise<Services> {
  const debitPool = createDebitPool(mysqlUrl)
  onStop(() => debitPool.end())
  await migrateDebitDatabase(debitPool)
  await seedDebit(debitPool)

  const creditPool = createCreditPool(postgresUrl)
  onStop(() => creditPool.end())
  await migrateCreditDatabase(creditPool)
  await seedCredit(creditPool)

  const debitUrl = await listen(debitService(debitPool), onStop)
  const creditApp = creditService(creditPool)
  onStop(() => creditApp.close())
  const creditUrl = await creditApp.listen({ host: '127.0.0.1', port: 0 })

  const url = counterstepUrl ?? (await startOwnCounterstep(onStop))
  return { debitUrl, creditUrl, client: createClient({ url }) }
}

async function startOwnCounterstep(onStop: (stop: Stop) => void): Promise<string> {
  const { url, stop } = await startCounterstep()
  onStop(stop)
  return url
}

async function listen(app: Express, onStop: (stop: Stop) => void): Promise<string> {
  const server = createServer(app)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onStop(async () => {
    server.close()
    await once(server, 'close')
  })
  const { port } = server.address() as AddressInfo
  return `http://127.0.0.1:${port}`
}

/** Enough for some thousand demos on one database. */
const ALICE_CENTS = 10_000_000
const CAROL_CENTS = 1_000

/** Accounts that are there already keep their balance. */
async function seedDebit(pool: MysqlPool): Promise<void> {
  await pool.execute(
    "INSERT INTO account (id, cents) VALUES ('alice', ?), ('carol', ?) ON DUPLICATE KEY UPDATE id = id",
    [ALICE_CENTS, CAROL_CENTS],
  )
}

/** Accounts that are there already keep their balance. */
async function seedCredit(pool: PostgresPool): Promise<void> {
  await pool.query(
    "INSERT INTO account (id, cents, frozen) VALUES ('bob', 0, false), ('dora', 0, true) ON CONFLICT DO NOTHING",
  )
}
