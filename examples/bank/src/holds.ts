import { randomUUID } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { BranchFailure } from '@counterstep/sdk'

export interface Hold {
  readonly id: string
  readonly accountId: string
  readonly amountCents: number
}

/** Money that was taken from an account and is kept aside. All methods run inside the caller's database transaction. */
export interface Holds {
  /** Returns the id of the new hold. */
  open(accountId: string, amountCents: number): string
  /** Makes the hold final. Throws a BranchFailure if there is no such hold, or if it is not open any more. */
  capture(id: string): Hold
  /** Ends the hold. Throws an Error if it is not open, because only what was opened is ever undone. */
  release(id: string): Hold
}

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS hold (
    id TEXT PRIMARY KEY,
    account TEXT NOT NULL,
    amount_cents INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'captured', 'released'))
  ) STRICT`

export function openHolds(database: DatabaseSync): Holds {
  database.exec(SCHEMA)
  const insert = database.prepare(
    "INSERT INTO hold (id, account, amount_cents, state) VALUES (?, ?, ?, 'open')",
  )
  const end = database.prepare(
    `UPDATE hold SET state = ? WHERE id = ? AND state = 'open'
     RETURNING id, account AS accountId, amount_cents AS amountCents`,
  )
  const endAs = (state: 'captured' | 'released', id: string) => end.get(state, id) as Hold | undefined
  return {
    open(accountId, amountCents) {
      const id = randomUUID()
      insert.run(id, accountId, amountCents)
      return id
    },
    capture(id) {
      const hold = endAs('captured', id)
      if (hold === undefined) throw new BranchFailure('there is no such open hold', { code: 'HOLD_NOT_OPEN' })
      return hold
    },
    release(id) {
      const hold = endAs('released', id)
      if (hold === undefined) throw new Error(`the hold ${id} is not open, so it cannot be released`)
      return hold
    },
  }
}
