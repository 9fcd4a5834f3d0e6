/**
 * The trail: the operators' commands in a transaction's record. An entry is saved by the same write as what its command
 * changed. So if the process dies before that write, neither is there, and if it dies after it, both are.
 */
import {
  OPERATOR_COMMANDS,
  type OperatorCommand,
  TRAIL_ENTRIES_MAX,
  type TrailEntry,
} from '@counterstep/protocol'
import type { StoredEntry, Transaction } from '../transaction.ts'

/** The ids of merged commands that one entry remembers. A repeat of an older one counts as a new command. */
const MERGED_IDS_MAX = 16
/**
 * A full trail refuses a pause alone, since all other commands help a transaction to its end. The last places are kept for one
 * entry of each of them.
 */
const ALWAYS_TAKEN: readonly OperatorCommand[] = OPERATOR_COMMANDS.filter((command) => command !== 'pause')
/** A trail with so many entries is full. */
export const TRAIL_FULL_ENTRIES = TRAIL_ENTRIES_MAX - ALWAYS_TAKEN.length
const NONE: readonly StoredEntry[] = []

/** Finds the entry of a command by its id, also if it was merged into another one. */
export function findEntry({ trail = NONE }: Pick<Transaction, 'trail'>, id: string): StoredEntry | undefined {
  return trail.find((entry) => listIds(entry).includes(id))
}

/** Tells whether the trail has no room for this entry. */
export function isTrailFull({ trail = NONE }: Transaction, entry: Pick<StoredEntry, 'command'>): boolean {
  return trail.length >= TRAIL_FULL_ENTRIES && !ALWAYS_TAKEN.includes(entry.command)
}

export function appendEntry<T extends Transaction>(transaction: T, entry: StoredEntry): T {
  const { trail = NONE } = transaction
  const last = findMergeable(trail, entry)
  if (last === undefined) return { ...transaction, trail: [...trail, entry] }
  const merged = mergeEntries(last, entry)
  return { ...transaction, trail: trail.map((each) => (each === last ? merged : each)) }
}

/** Retries of one caller in a row are one entry. In a full trail all further commands of one kind are one entry. */
function findMergeable(trail: readonly StoredEntry[], entry: StoredEntry): StoredEntry | undefined {
  const isAlike = (each: StoredEntry) => each.command === entry.command && isSameOp(each, entry)
  const further = trail.slice(TRAIL_FULL_ENTRIES).find(({ command }) => command === entry.command)
  if (further !== undefined) return further
  if (entry.command !== 'retry' && entry.command !== 'retry-op') return undefined
  const last = trail.at(-1)
  return last !== undefined && isAlike(last) && isSameCaller(last, entry) ? last : undefined
}

function mergeEntries(before: StoredEntry, entry: StoredEntry): StoredEntry {
  const also = listIds(before).slice(-MERGED_IDS_MAX)
  return { ...entry, also, count: (before.count ?? 1) + 1 }
}

export function listIds({ id, also = [] }: StoredEntry): readonly string[] {
  return [...also, id]
}

function isSameOp(a: TrailEntry, b: TrailEntry): boolean {
  return a.op?.branchId === b.op?.branchId && a.op?.op === b.op?.op
}

function isSameCaller({ by: a, bulk }: TrailEntry, { by: b, bulk: otherBulk }: TrailEntry): boolean {
  return a.key?.id === b.key?.id && a.person === b.person && a.via === b.via && bulk === otherBulk
}

/**
 * Unites the stored trail with ours. The stored entries are durable and come first, because ours became durable after them
 * or will. An entry of which both have an id was merged on both sides, and stays one entry.
 */
export function uniteTrails(
  stored: readonly StoredEntry[] = NONE,
  ours: readonly StoredEntry[] = NONE,
): readonly StoredEntry[] {
  let united = stored
  for (const entry of ours) {
    const twin = united.find((each) => listIds(entry).some((id) => listIds(each).includes(id)))
    united =
      twin === undefined
        ? [...united, entry]
        : united.map((each) => (each === twin ? uniteEntries(twin, entry) : each))
  }
  return united
}

function uniteEntries(stored: StoredEntry, ours: StoredEntry): StoredEntry {
  const known = listIds(stored)
  const added = listIds(ours).filter((id) => !known.includes(id))
  const last = added.at(-1)
  if (last === undefined) return stored
  const also = [...known, ...added.slice(0, -1)].slice(-MERGED_IDS_MAX)
  return { ...stored, id: last, at: ours.at, also, count: (stored.count ?? 1) + added.length }
}

/** Returns the entries that have an id which the other trail does not know. */
export function findNewEntries(
  trail: readonly StoredEntry[] = NONE,
  known: readonly StoredEntry[] = NONE,
): readonly StoredEntry[] {
  if (trail === known) return NONE
  const ids = new Set(known.flatMap(listIds))
  return trail.filter((entry) => listIds(entry).some((id) => !ids.has(id)))
}

export function viewTrail(trail: readonly StoredEntry[]): readonly TrailEntry[] {
  return trail.map(({ also: _, ...entry }) => entry)
}
