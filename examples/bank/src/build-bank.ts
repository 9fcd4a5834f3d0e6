import { DatabaseSync } from 'node:sqlite'
import { migrateBarrier, sqliteBarrier } from '@counterstep/sdk/barrier/sqlite'
import { type FastifyInstance, fastify } from 'fastify'
import { addAccountRoutes } from './account-routes.ts'
import { type AccountSeed, openAccounts } from './accounts.ts'
import { addBranchRoutes, type Intercept } from './branch-routes.ts'
import { openCallLog } from './call-log.ts'
import { openHolds } from './holds.ts'

export interface BankOptions {
  /** The database file; made if it is not there. */
  readonly path: string
  readonly name?: string
  /** Added if they are not there yet. */
  readonly accounts?: readonly AccountSeed[]
  /** `full`: a committed transfer survives power loss. `normal`: it survives a crash of the process. */
  readonly durability?: 'full' | 'normal'
  /** Drawn for each branch call, before the account is looked at. */
  readonly latencyMs?: () => number
  /** For tests: stands between the wire and the bank. */
  readonly intercept?: Intercept
  readonly now?: () => number
  /** Told of what became a 500. */
  readonly onError?: (error: unknown) => void
}

/** How long a call waits for another program that writes the file; without it the call would fail at once. */
const BUSY_MS_MAX = 5_000

export const DEMO_ACCOUNTS: readonly AccountSeed[] = [
  { id: 'alice', balanceCents: 100_000 },
  { id: 'bob', balanceCents: 100_000 },
  { id: 'carol', balanceCents: 100_000 },
  { id: 'frozen', balanceCents: 100_000, isFrozen: true },
]

/** A bank that does not listen yet. It owns its database, and closes it when the app is closed. */
export function buildBank({
  path,
  name = 'bank',
  accounts: seeds = DEMO_ACCOUNTS,
  durability = 'full',
  latencyMs = () => 0,
  intercept = (_origin, handle) => handle(),
  now = Date.now,
  onError = (error) => console.error(error),
}: BankOptions): FastifyInstance {
  const database = new DatabaseSync(path, { timeout: BUSY_MS_MAX })
  database.exec('PRAGMA journal_mode = WAL')
  database.exec(`PRAGMA synchronous = ${durability === 'full' ? 'FULL' : 'NORMAL'}`)
  const accounts = openAccounts(database, now)
  accounts.seed(seeds)
  migrateBarrier(database)
  const barrier = sqliteBarrier(database, { now })
  const callLog = openCallLog(database, now)

  const app = fastify()
  app.setErrorHandler<{ statusCode?: number; code?: string }>((error, _request, reply) => {
    const { statusCode = 500, code = 'BANK_ERROR' } = error
    if (statusCode >= 500) onError(error)
    return reply.code(statusCode).send({ code })
  })
  app.addHook('onClose', () => {
    database.close()
  })
  addAccountRoutes(app, name, accounts)
  addBranchRoutes(app, {
    database,
    accounts,
    holds: openHolds(database),
    barrier,
    callLog,
    latencyMs,
    intercept,
  })
  return app
}
