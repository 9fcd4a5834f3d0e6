import { type BarrierCall, BranchFailure, isBranchFailure } from '@counterstep/sdk'
import { type BarrierOutcome, mysqlBarrier } from '@counterstep/sdk/barrier/mysql'
import { type Addition, groupedBranch } from '@counterstep/sdk/grouped'
import { conditionalAdd, mysqlGroupBarrier } from '@counterstep/sdk/grouped/mysql'
import { createPool, type Pool, type PoolConnection, type ResultSetHeader } from 'mysql2/promise'
import type { Way } from './callers-job.ts'
import { HOT_ID } from './hot-account.ts'

/** Three pools of them fit a server with 300. More callers wait for one. */
const CONNECTIONS_MAX = 64

export interface Wish {
  readonly call: BarrierCall
  readonly cents: number
}

export type Answer = 'ran' | 'duplicate' | 'refused'
export type Serve = (wish: Wish) => Promise<Answer>

/** The service that keeps the row, with connections of its own. */
export function serveHotRow(way: Way, databaseUrl: string): Serve {
  const pool = createPool({ uri: databaseUrl, connectionLimit: CONNECTIONS_MAX })
  switch (way) {
    case 'update':
      return bareUpdate(pool)
    case 'plain':
      return plainBarrier(pool)
    case 'grouped':
      return groupedBarrier(pool)
  }
}

/** Runs in autocommit: one statement, one round trip, one commit. */
function bareUpdate(pool: Pool): Serve {
  return async () => {
    const [done] = await pool.query<ResultSetHeader>('UPDATE account SET cents = cents + 1 WHERE id = ?', [
      HOT_ID,
    ])
    if (done.affectedRows !== 1)
      throw new Error(`the hot row is not there: ${done.affectedRows} rows changed`)
    return 'ran'
  }
}

function plainBarrier(pool: Pool): Serve {
  const barrier = mysqlBarrier(pool)
  // The hot row comes last, which is the better order for this way: its lock is held for fewer round trips.
  const add = async (tx: PoolConnection, { call, cents }: Wish): Promise<void> => {
    const insert = 'INSERT INTO ledger (gid, account, cents) VALUES (?, ?, ?)'
    await tx.query(insert, [call.gid, HOT_ID, cents])
    const update = 'UPDATE account SET cents = cents + ? WHERE id = ? AND cents + ? >= 0'
    const [done] = await tx.query<ResultSetHeader>(update, [cents, HOT_ID, cents])
    if (done.affectedRows === 0) throw new BranchFailure('too little is left', { code: 'INSUFFICIENT' })
  }
  return (wish) => toAnswer(barrier.run(wish.call, (tx) => add(tx, wish)))
}

function groupedBarrier(pool: Pool): Serve {
  const branch = groupedBranch<PoolConnection, Addition>(mysqlGroupBarrier(pool), {
    key: () => HOT_ID,
    apply: conditionalAdd({
      table: 'account',
      valueColumn: 'cents',
      log: {
        table: 'ledger',
        columns: ['gid', 'account', 'cents'],
        values: ({ call, id, delta }) => [call.gid, id, delta],
      },
    }),
  })
  return ({ call, cents }) => toAnswer(branch.run(call, () => ({ id: HOT_ID, delta: cents })))
}

async function toAnswer(running: Promise<BarrierOutcome>): Promise<Answer> {
  try {
    const { decision } = await running
    if (decision === 'run') return 'ran'
    if (decision === 'duplicate') return 'duplicate'
    throw new Error(`an action was answered ${decision}`)
  } catch (error: unknown) {
    if (isBranchFailure(error)) return 'refused'
    throw error
  }
}
