import { step, workflow } from '@counterstep/sdk'
import { postgresBarrier } from '@counterstep/sdk/barrier/postgres'
import { branchHandler, workflowHandler } from '@counterstep/sdk/fastify'
import type { FastifyInstance } from 'fastify'
import type { Pool, PoolClient } from 'pg'
import { MOVE_SQL, type Move, type Transfer, toAccount, toCents } from './move.ts'

export const BRANCH_PATH = '/moves'
export const HANDLER_PATH = '/workflows'
export const WORKFLOW = { name: 'transfer', version: 1 }

/** Serves a move as the branch of a saga and as the local step of a workflow, behind the same barrier. */
export function serveMoves(app: FastifyInstance, pool: Pool, accounts: number): void {
  const barrier = postgresBarrier<PoolClient>(pool)
  const change = async (tx: PoolClient, one: Move, sign: 1 | -1): Promise<void> => {
    await tx.query(MOVE_SQL, [sign * toCents(one.number), toAccount(one, accounts)])
  }
  app.post(
    BRANCH_PATH,
    branchHandler(barrier, (tx: PoolClient, { op, payload }: { op: string; payload: Move }) =>
      change(tx, payload, op === 'compensate' ? -1 : 1),
    ),
  )
  const move = step('move', {
    do: (tx: PoolClient, one: Move) => change(tx, one, 1),
    undo: (tx, one) => change(tx, one, -1),
  })
  const transfer = workflow(
    WORKFLOW.name,
    { version: WORKFLOW.version, barrier, steps: [move] },
    async (ctx, { transfer: text, steps }: Transfer) => {
      for (let number = 1; number <= steps; number += 1) await ctx.step(move, { transfer: text, number })
    },
  )
  app.post(HANDLER_PATH, workflowHandler([transfer]))
}
