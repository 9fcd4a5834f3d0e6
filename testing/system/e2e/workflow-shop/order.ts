import type { DatabaseSync } from 'node:sqlite'
import { BranchFailure, endpoint, signal, step, workflow } from '@counterstep/sdk'
import { sqliteBarrier } from '@counterstep/sdk/barrier/sqlite'

export interface OrderInput {
  readonly sku: string
  /** The function does it all so many times more, each time as a new generation. */
  readonly more?: number
  /** The function fails when everything else is done. */
  readonly isRefusedAtLast?: boolean
}

interface Ordered {
  readonly payment: number
  readonly by: string
}

export const approval = signal<{ by: string }>('approval')

/** Writes down what has happened, in the database transaction of what has happened. */
export function note(tx: DatabaseSync, what: string): number {
  return Number(tx.prepare('INSERT INTO happened (what) VALUES (?)').run(what).lastInsertRowid)
}

/** The workflow of a shop whose service is at `base`, over the shop's own database. */
export function createOrder(database: DatabaseSync, base: string) {
  const barrier = sqliteBarrier(database)
  const reserve = step('reserve', {
    do: (tx: DatabaseSync, { sku }: { sku: string }) => ({ reservation: note(tx, `reserved ${sku}`) }),
    undo: (tx, { sku }, { reservation }) => void note(tx, `unreserved ${sku} ${reservation}`),
  })
  const pack = step('pack', {
    do: (tx: DatabaseSync, reservation: number) => void note(tx, `packed ${reservation}`),
    undo: (tx, reservation) => void note(tx, `unpacked ${reservation}`),
  })
  const charge = endpoint<{ of: number }, { payment: number }, 'DECLINED'>(`${base}/charged`)
  const refund = endpoint<{ of: number | null }, void>(`${base}/refunded`)
  const mail = endpoint<{ of: string }, void>(`${base}/mailed`)
  const sorry = endpoint<{ of: string }, void>(`${base}/apologized`)
  const order = workflow(
    'order',
    { version: 1, barrier, steps: [reserve, pack] },
    async (ctx, { sku, more = 0, isRefusedAtLast = false }: OrderInput): Promise<Ordered> => {
      const { reservation } = await ctx.step(reserve, { sku })
      const { payment } = await ctx.call('charge', charge, {
        payload: { of: reservation },
        undo: (own) => ({ to: refund, payload: { of: own.payment } }),
      })
      await ctx.sleep('cool-off', 50)
      const approved = await ctx.signal('approved', approval, { timeoutMs: 60_000 })
      if (approved === undefined) throw new BranchFailure('nobody has approved', { code: 'NOT_APPROVED' })
      const { by } = approved
      await ctx.all([
        ctx.step(pack, reservation),
        ctx.call('mail', mail, { payload: { of: by }, undo: () => ({ to: sorry, payload: { of: by } }) }),
      ])
      if (more > 0) return ctx.continueWith({ sku, more: more - 1, isRefusedAtLast }, { keep: true })
      if (isRefusedAtLast) throw new BranchFailure('the cup is broken', { code: 'BROKEN' })
      return { payment, by }
    },
  )
  return { barrier, order }
}
