import assert from 'node:assert/strict'
import type {
  NewTransaction,
  Store,
  StoredTransaction,
  TransactionUpdate,
  UpdateHold,
} from '@counterstep/core'
import type { Gid, Status } from '@counterstep/protocol'

let drawn = 0

export const FORMAT = 1
/** The length of a lease that the test lets end before it goes on. */
export const BRIEF_LEASE_MS = 50

export function asGid(text: string): Gid {
  return text as Gid
}

/** Makes a token that is unique within the run, and hexadecimal as the contract requires. */
export function drawToken(): string {
  drawn += 1
  return drawn.toString(16).padStart(32, '0')
}

export function drawTokens(count: number): readonly string[] {
  return Array.from({ length: count }, drawToken)
}

export function makeDigest(character: string): string {
  return character.repeat(64)
}

export function aTransaction(gid: string, change: Partial<NewTransaction> = {}): NewTransaction {
  return {
    gid: asGid(gid),
    kind: 'saga',
    status: 'submitted',
    format: FORMAT,
    digest: makeDigest('a'),
    definition: '{"branches":[]}',
    progress: '{}',
    token: drawToken(),
    writeId: drawToken(),
    hold: { type: 'owned', leaseMs: 10_000 },
    sentList: 'held',
    ...change,
  }
}

/** Makes a waiting transaction that is due at once. */
export function aDueTransaction(gid: string, change: Partial<NewTransaction> = {}): NewTransaction {
  return aTransaction(gid, { hold: { type: 'waiting', dueInMs: 0 }, sentList: 'released', ...change })
}

export async function createRow(store: Store, transaction: NewTransaction): Promise<StoredTransaction> {
  const result = await store.create(transaction)
  assert.equal(result.type, 'created')
  return read(store, transaction.gid)
}

export async function read(store: Store, gid: string): Promise<StoredTransaction> {
  const [row] = await store.readMany([asGid(gid)])
  assert.ok(row !== undefined, `no row ${gid}`)
  return row
}

export async function isStored(store: Store, gid: string): Promise<boolean> {
  return (await store.readMany([asGid(gid)])).length === 1
}

/** Makes the next write of a caller that has just read `row`. */
export function makeUpdate(
  row: StoredTransaction,
  hold: UpdateHold,
  change: Partial<TransactionUpdate> = {},
): TransactionUpdate {
  return {
    gid: row.gid,
    token: row.token,
    version: row.version,
    writeId: drawToken(),
    status: toStatus(hold, row.status),
    format: row.format,
    progress: row.progress,
    retrying: row.retrying,
    attention: row.attention,
    hold,
    ...change,
  }
}

function toStatus(hold: UpdateHold, status: Status): Status {
  return hold.type === 'finish' ? 'succeeded' : status
}

/** Saves the update. Any greater version is right if the answer and the row have the same one. */
export async function saveRow(store: Store, update: TransactionUpdate): Promise<StoredTransaction> {
  const result = await store.update(update)
  assert.ok(result.type === 'saved', `not saved: ${result.type}`)
  assertRaised(result.version, update.version)
  const row = await read(store, update.gid)
  assert.equal(result.version, row.version)
  return row
}

export function assertRaised(version: number, before: number): void {
  assert.ok(Number.isSafeInteger(version) && version > before, `version ${version} after ${before}`)
}

export async function finishRow(
  store: Store,
  gid: string,
  retentionMs: number | 'never',
): Promise<StoredTransaction> {
  const row = await createRow(store, aTransaction(gid))
  return saveRow(store, makeUpdate(row, { type: 'finish', retentionMs }))
}

export async function claimRow(store: Store, gid: string, leaseMs: number): Promise<StoredTransaction> {
  const { version } = await read(store, gid)
  const result = await store.claim({ gid: asGid(gid), token: drawToken(), leaseMs, formatMax: FORMAT })
  assert.ok(result.type === 'claimed', `refused: ${result.type === 'refused' && result.reason}`)
  assertRaised(result.transaction.version, version)
  assert.deepEqual(await read(store, gid), result.transaction)
  return result.transaction
}

export async function claimDueGids(store: Store, limit: number, leaseMs = 10_000): Promise<readonly Gid[]> {
  const { claimed } = await store.claimDue({ limit, leaseMs, tokens: drawTokens(limit), formatMax: FORMAT })
  return claimed.map((row) => row.gid)
}

/**
 * Purges finished rows whose retention is over until none is left, and returns the count of each call. A store may let such
 * rows expire by itself and count only what it still removes.
 */
export async function purgeAll(
  store: Store,
  gids: readonly string[],
  limit: number,
): Promise<readonly number[]> {
  const present = (await store.readMany(gids.map(asGid))).length
  const counts: number[] = []
  do counts.push((await store.purgeFinished(limit)).purged)
  while (counts.at(-1) !== 0 && counts.length <= gids.length)
  assert.ok(counts.every((count) => count <= limit))
  const total = counts.reduce((sum, count) => sum + count, 0)
  assert.ok(present <= total && total <= gids.length, `purged ${total}, of which ${present} could be read`)
  assert.deepEqual(await store.readMany(gids.map(asGid)), [])
  return counts
}

export async function rejectsWith(code: string, call: () => Promise<unknown>): Promise<void> {
  await assert.rejects(call, (error: unknown) => {
    assert.ok(error instanceof Error && 'code' in error)
    assert.equal(error.code, code)
    return true
  })
}
