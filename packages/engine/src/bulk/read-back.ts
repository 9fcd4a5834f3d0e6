/** Reads from the rows of a bulk job how those have got on that were given the command. */
import { AssertionError, decodeTransaction, judgeFate, type StoredTransaction } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import type { StoredPart } from './bulk-documents.ts'

/** A record that cannot be read has not got on. */
export function readFate(row: StoredTransaction, jobId: string): 'g' | 'o' | 'f' {
  try {
    const transaction = decodeTransaction(row)
    const entry = transaction.trail?.findLast(({ bulk }) => bulk === jobId)
    return judgeFate(transaction, entry?.at ?? row.updatedAt)
  } catch (error: unknown) {
    if (error instanceof AssertionError) return 'f'
    throw error
  }
}

/** Finds the next ones that were given the command and not answered yet, and begins anew behind the last one. */
export function findGiven(
  parts: readonly StoredPart[],
  from: number,
  max: number,
): readonly { readonly gid: Gid; readonly position: number }[] {
  const given = parts
    .flatMap(({ part }) => part.gids.map((gid, at) => ({ gid, fate: part.fates[at] })))
    .flatMap(({ gid, fate }, position) => (fate === 'g' ? [{ gid, position }] : []))
  const later = given.filter(({ position }) => position >= from)
  return (later.length > 0 ? later : given).slice(0, max)
}
