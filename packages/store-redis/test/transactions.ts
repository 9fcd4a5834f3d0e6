import { randomBytes } from 'node:crypto'
import type {
  NewTransaction,
  Store,
  StoredTransaction,
  TransactionUpdate,
  UpdateHold,
} from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { expect } from 'vitest'

export function hex(bytes: number): string {
  return randomBytes(bytes).toString('hex')
}

export function aTransaction(gid: string, change: Partial<NewTransaction> = {}): NewTransaction {
  return {
    gid: gid as Gid,
    kind: 'saga',
    status: 'submitted',
    format: 1,
    digest: '0'.repeat(64),
    definition: '{}',
    progress: '{}',
    token: hex(16),
    writeId: hex(16),
    hold: { type: 'owned', leaseMs: 10_000 },
    sentList: 'held',
    ...change,
  }
}

export function dueTransaction(gid: string, dueInMs = 0): NewTransaction {
  return aTransaction(gid, { hold: { type: 'waiting', dueInMs }, sentList: 'released' })
}

export type Written = Pick<StoredTransaction, 'gid' | 'token' | 'version'>

/** Makes the next write of the owner that has created or last saved the transaction. */
export function makeUpdate(
  written: Written,
  hold: UpdateHold = { type: 'keep' },
  change: Partial<TransactionUpdate> = {},
): TransactionUpdate {
  return {
    gid: written.gid,
    token: written.token,
    version: written.version,
    writeId: hex(16),
    status: hold.type === 'finish' ? 'succeeded' : 'submitted',
    format: 1,
    progress: '{}',
    retrying: false,
    attention: false,
    hold,
    ...change,
  }
}

export async function created(store: Store, transaction: NewTransaction): Promise<Written> {
  expect(await store.create(transaction)).toMatchObject({ type: 'created' })
  return { gid: transaction.gid, token: transaction.token, version: 1 }
}

export async function saved(store: Store, update: TransactionUpdate): Promise<Written> {
  const result = await store.update(update)
  expect(result.type).toBe('saved')
  return { gid: update.gid, token: update.token, version: result.type === 'saved' ? result.version : 0 }
}

export async function finished(
  store: Store,
  gid: string,
  retentionMs: number | 'never' = 'never',
): Promise<Written> {
  return saved(store, makeUpdate(await created(store, aTransaction(gid)), { type: 'finish', retentionMs }))
}

export async function read(store: Store, gid: string): Promise<StoredTransaction> {
  const [row] = await store.readMany([gid as Gid])
  if (row === undefined) throw new Error(`no row ${gid}`)
  return row
}

export function tokens(count: number): readonly string[] {
  return Array.from({ length: count }, () => hex(16))
}
