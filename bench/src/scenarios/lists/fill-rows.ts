import { randomUUID } from 'node:crypto'
import {
  type CreateResult,
  type NewTransaction,
  PARKED_AT,
  type Store,
  type TransactionUpdate,
} from '@counterstep/core'

/** One of so many rows is unfinished, so that 1,000,000 finished ones have 50,000 unfinished ones among them. */
const LIVE_EVERY = 21
/** So many rows have the rare tag: the oldest. */
export const RARE_TAGGED = 20
export const RARE_TAG = { rare: 'yes' } as const
const ROWS_AT_ONCE = 1_000
const HOUR_MS = 3_600_000
const FORMAT = 1
const NAMES = 20

/** About as long as those of a saga with two branches. */
const DEFINITION = JSON.stringify({
  branches: ['debit', 'credit'].map((id) => ({
    id,
    action: `http://bank-${id}.internal:8080/transfers/${id}`,
    compensation: `http://bank-${id}.internal:8080/transfers/${id}-undo`,
    payload: { account: 'account-000001', amount: 30, currency: 'EUR', note: 'x'.repeat(60) },
  })),
})
const PROGRESS = JSON.stringify({
  ops: ['debit', 'credit'].map((id) => ({
    id,
    op: 'action',
    state: 'succeeded',
    attempts: 1,
    at: 1_764_000_000_000,
  })),
})

export interface Filled {
  readonly finished: number
  readonly live: number
}

/**
 * Creates the rows by the store's own calls, each in the order of the accepts: `finished` ones, and unfinished ones among
 * them, of which some are retried, some need a person and some are paused.
 */
export async function fillRows(
  store: Store,
  finished: number,
  onFilled: (rows: number) => void,
): Promise<Filled> {
  const rows = finished + Math.floor(finished / (LIVE_EVERY - 1))
  const filled = { finished: 0, live: 0 }
  let saves: Promise<unknown> = Promise.resolve()
  for (let from = 0; from < rows; from += ROWS_AT_ONCE) {
    const places = Array.from({ length: Math.min(ROWS_AT_ONCE, rows - from) }, (_, i) => from + i)
    const created = places.map((place) => createOne(store, place))
    const [updates] = await Promise.all([Promise.all(created), saves])
    saves = Promise.all(updates.map((update) => update && saveOne(store, update)))
    for (const place of places) filled[isLive(place) ? 'live' : 'finished'] += 1
    onFilled(from + places.length)
  }
  await saves
  return filled
}

function isLive(place: number): boolean {
  return place % LIVE_EVERY === LIVE_EVERY - 1
}

/** Returns the update that the row still needs. */
async function createOne(store: Store, place: number): Promise<TransactionUpdate | undefined> {
  const transaction = toTransaction(place)
  const result: CreateResult = await store.create(transaction)
  if (result.type !== 'created') throw new Error(`${transaction.gid} was there already`)
  return isLive(place) ? toTrouble(transaction, place, result.now) : toEnd(transaction)
}

async function saveOne(store: Store, update: TransactionUpdate): Promise<void> {
  const { type } = await store.update(update)
  if (type !== 'saved') throw new Error(`${update.gid} was not saved: ${type}`)
}

function toTransaction(place: number): NewTransaction {
  const kind = place % 3 === 0 ? 'tcc' : 'saga'
  return {
    // The gids are in no order, as those that users draw.
    gid: `${place % 100 === 0 ? 'order' : 'x'}-${randomUUID()}` as NewTransaction['gid'],
    kind,
    status: 'submitted',
    format: FORMAT,
    digest: 'a'.repeat(64),
    definition: DEFINITION,
    progress: PROGRESS,
    token: randomUUID().replaceAll('-', ''),
    writeId: randomUUID().slice(0, 32),
    // An unfinished row is not due while the pages are read.
    hold: isLive(place)
      ? { type: 'waiting', dueInMs: HOUR_MS + (place % HOUR_MS) }
      : { type: 'owned', leaseMs: HOUR_MS },
    sentList: 'held',
    name: `name-${place % NAMES}`,
    tags: {
      region: place % 10 === 0 ? 'eu' : 'us',
      ...(place < RARE_TAGGED && RARE_TAG),
    },
  }
}

/** Each tenth unfinished row is retried, each tenth of these has attention, and another hundredth is paused. */
function toTrouble(transaction: NewTransaction, place: number, now: number): TransactionUpdate | undefined {
  const live = (place + 1) / LIVE_EVERY
  const isRetrying = live % 10 === 0
  const isPaused = live % 100 === 5
  if (!isRetrying && !isPaused) return undefined
  return {
    ...toUpdate(transaction),
    retrying: isRetrying,
    attention: isRetrying && live % 100 === 0,
    ...(isRetrying && { problem: `bank-${live % 30} compensate 500`, attempts: 5 }),
    ...(isPaused && { marks: ['paused'] as const }),
    hold: { type: 'release', dueAt: isPaused ? PARKED_AT : now + HOUR_MS + (place % HOUR_MS) },
  }
}

function toEnd(transaction: NewTransaction): TransactionUpdate {
  return { ...toUpdate(transaction), status: 'succeeded', hold: { type: 'finish', retentionMs: 'never' } }
}

function toUpdate({ gid, token, format, progress, status }: NewTransaction) {
  const writeId = randomUUID().slice(0, 32)
  return { gid, token, version: 1, writeId, status, format, progress, retrying: false, attention: false }
}
