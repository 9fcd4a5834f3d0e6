import type { GroupVerdict } from './group-barrier.ts'
import { NothingToCommit } from './pass-group.ts'

/** The verdicts of a group, also of one that was rolled back because it had nothing to commit. */
export async function verdictsOf(
  transaction: Promise<readonly GroupVerdict[]>,
): Promise<readonly GroupVerdict[]> {
  try {
    return await transaction
  } catch (error: unknown) {
    if (error instanceof NothingToCommit) return error.verdicts
    throw error
  }
}
