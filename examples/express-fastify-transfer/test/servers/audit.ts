import type { RowDataPacket } from 'mysql2/promise'
import type { Pools } from './both-servers.ts'

/** The findings of an auditor in the two databases, who has seen none of the calls. */
export interface Audit {
  /** The bookings at each of the two services by gid, in order. */
  readonly debits: ReadonlyMap<string, readonly number[]>
  readonly credits: ReadonlyMap<string, readonly number[]>
  /** Cents of all accounts of both. */
  readonly sum: number
  /** Cents of all entries, by account: what has become of it since it was opened. */
  readonly changes: ReadonlyMap<string, number>
  readonly balances: ReadonlyMap<string, number>
}

const ENTRIES = 'SELECT gid, account, cents FROM entry ORDER BY number'
const BALANCES = 'SELECT id, cents FROM account'

export async function audit({ debitPool, creditPool }: Pools): Promise<Audit> {
  const [debits] = await debitPool.query<RowDataPacket[]>(ENTRIES)
  const { rows: credits } = await creditPool.query(ENTRIES)
  const [debited] = await debitPool.query<RowDataPacket[]>(BALANCES)
  const { rows: credited } = await creditPool.query(BALANCES)
  const accounts = [...debited, ...credited].map(({ id, cents }) => [String(id), Number(cents)] as const)
  const changes = new Map<string, number>()
  for (const { account, cents } of [...debits, ...credits]) {
    changes.set(account, (changes.get(account) ?? 0) + Number(cents))
  }
  return {
    debits: byGid(debits),
    credits: byGid(credits),
    sum: accounts.reduce((sum, [, cents]) => sum + cents, 0),
    changes,
    balances: new Map(accounts),
  }
}

function byGid(entries: readonly Record<string, unknown>[]): Map<string, number[]> {
  const found = new Map<string, number[]>()
  for (const { gid, cents } of entries) {
    found.set(String(gid), [...(found.get(String(gid)) ?? []), Number(cents)])
  }
  return found
}
