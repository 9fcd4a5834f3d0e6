import { type Branch, BranchFailure } from '@counterstep/sdk'
import { mysqlBarrier } from '@counterstep/sdk/barrier/mysql'
import { branchHandler } from '@counterstep/sdk/express'
import express, { type Express } from 'express'
import type { Pool, PoolConnection, ResultSetHeader } from 'mysql2/promise'
import { parseTransferPart, type TransferPart } from './transfer-part.ts'

type LogError = (error: unknown, branch: Branch | undefined) => void

/** The service that money leaves: Express 5 on MySQL or MariaDB. */
export function debitService(pool: Pool, onError: LogError = logError): Express {
  const barrier = mysqlBarrier(pool)
  const options = { parse: parseTransferPart, onError }
  const app = express()
  // The defaults take 100 KiB, and objects and arrays alone; a payload may have 256 KiB, and be any JSON.
  app.use(express.json({ limit: '1mb', strict: false }))
  app.post('/debit', branchHandler(barrier, debit, options))
  app.post('/debit-undo', branchHandler(barrier, undoDebit, options))
  app.get('/accounts', async (_request, response) => {
    const [accounts] = await pool.query('SELECT id, cents FROM account ORDER BY id')
    response.json(accounts)
  })
  return app
}

/** Everything goes through `tx`: it commits or rolls back together with the barrier's row. */
async function debit(tx: PoolConnection, { gid, payload }: Branch<TransferPart>): Promise<void> {
  const { account, cents } = payload
  const [{ affectedRows }] = await tx.execute<ResultSetHeader>(
    'UPDATE account SET cents = cents - ? WHERE id = ? AND cents >= ?',
    [cents, account, cents],
  )
  if (affectedRows === 0) {
    throw new BranchFailure(`no account ${account} has ${cents} cents`, { code: 'INSUFFICIENT_FUNDS' })
  }
  await tx.execute('INSERT INTO entry (gid, account, cents) VALUES (?, ?, ?)', [gid, account, -cents])
}

/** Runs only where the debit has run, so the account is there: an undo that fails is a bug. */
async function undoDebit(tx: PoolConnection, { gid, payload }: Branch<TransferPart>): Promise<void> {
  const { account, cents } = payload
  const [{ affectedRows }] = await tx.execute<ResultSetHeader>(
    'UPDATE account SET cents = cents + ? WHERE id = ?',
    [cents, account],
  )
  if (affectedRows === 0) throw new Error(`the account ${account} was debited and is gone`)
  await tx.execute('INSERT INTO entry (gid, account, cents) VALUES (?, ?, ?)', [gid, account, cents])
}

function logError(error: unknown, branch: Branch | undefined): void {
  console.error('debit-service', branch?.gid, branch?.op, error)
}
