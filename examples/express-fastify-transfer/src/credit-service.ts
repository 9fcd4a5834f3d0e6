import { type Branch, BranchFailure } from '@counterstep/sdk'
import { postgresBarrier } from '@counterstep/sdk/barrier/postgres'
import { branchHandler } from '@counterstep/sdk/fastify'
import fastify, { type FastifyInstance } from 'fastify'
import type { Pool, PoolClient } from 'pg'
import { parseTransferPart, type TransferPart } from './transfer-part.ts'

/** The service that money comes to: Fastify 5 on PostgreSQL. */
export function creditService(pool: Pool, logLevel: 'warn' | 'silent' = 'warn'): FastifyInstance {
  const barrier = postgresBarrier(pool)
  const options = { parse: parseTransferPart }
  const app = fastify({ logger: { level: logLevel } })
  app.post('/credit', branchHandler(barrier, credit, options))
  app.post('/credit-undo', branchHandler(barrier, undoCredit, options))
  app.get('/accounts', async () => {
    const { rows } = await pool.query<{ id: string; cents: string }>(
      'SELECT id, cents FROM account ORDER BY id',
    )
    // A bigint comes as text.
    return rows.map(({ id, cents }) => ({ id, cents: Number(cents) }))
  })
  return app
}

/** Everything goes through `tx`: it commits or rolls back together with the barrier's row. */
async function credit(tx: PoolClient, { gid, payload }: Branch<TransferPart>): Promise<void> {
  const { account, cents } = payload
  const { rowCount } = await tx.query('UPDATE account SET cents = cents + $1 WHERE id = $2 AND NOT frozen', [
    cents,
    account,
  ])
  if (rowCount === 0) {
    throw new BranchFailure(`no account ${account} takes money`, { code: 'ACCOUNT_CLOSED' })
  }
  await tx.query('INSERT INTO entry (gid, account, cents) VALUES ($1, $2, $3)', [gid, account, cents])
}

/** Runs only where the credit has run, and never says no: an account that was frozen since gives the money back too. */
async function undoCredit(tx: PoolClient, { gid, payload }: Branch<TransferPart>): Promise<void> {
  const { account, cents } = payload
  const { rowCount } = await tx.query('UPDATE account SET cents = cents - $1 WHERE id = $2', [cents, account])
  if (rowCount === 0) throw new Error(`the account ${account} was credited and is gone`)
  await tx.query('INSERT INTO entry (gid, account, cents) VALUES ($1, $2, $3)', [gid, account, -cents])
}
