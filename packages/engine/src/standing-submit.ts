import { type Clock, type StoredTransaction, StoreUnavailableError } from '@counterstep/core'
import { CounterstepError, type ErrorCode } from '@counterstep/protocol'
import { type Accepted, createGidConflict, digestContent, type NamedSubmission } from './acceptance.ts'
import { within } from './until-definite.ts'

const NO_ROOM_CODES: ReadonlySet<ErrorCode> = new Set([
  'SAGA_OVER_CAPACITY',
  'SAGA_TARGET_OVER_CAPACITY',
  'SAGA_STORE_FULL',
])

export interface StandingLookUp {
  readonly clock: Clock
  readonly limitMs: number
  /** Reads the row. Returns undefined, and reads nothing, if there is no turn for it now. */
  readonly readRow: () => Promise<StoredTransaction | undefined> | undefined
  /** Resolves when what was read is durable. */
  readonly settle: () => Promise<void>
}

export function isNoRoom(error: unknown): error is CounterstepError {
  return error instanceof CounterstepError && NO_ROOM_CODES.has(error.code)
}

/**
 * Answers a submit that found no room, and that may repeat an earlier one. A transaction that was accepted earlier
 * needs no room. Where the row cannot be read in time, or is not known to be durable, the refusal says that an earlier submit may stand. Where there
 * is no row, the refusal is thrown.
 */
export async function findStanding(
  submission: NamedSubmission,
  refusal: CounterstepError,
  lookUp: StandingLookUp,
): Promise<Accepted> {
  const { gid } = submission
  const row = await readStanding(lookUp)
  if (row === 'not-read') {
    const text = `${refusal.message}. This request stored nothing; an earlier one of ${gid} may stand: read it`
    throw new CounterstepError(refusal.code, text, { cause: refusal })
  }
  if (row === undefined) throw refusal
  if (row.digest !== digestContent(submission)) throw createGidConflict(gid)
  return { gid, ack: 'durable' }
}

async function readStanding({
  clock,
  limitMs,
  readRow,
  settle,
}: StandingLookUp): Promise<StoredTransaction | 'not-read' | undefined> {
  const reading = readRow()
  if (reading === undefined) return 'not-read'
  try {
    const found = reading.then(async (row) => {
      if (row !== undefined) await settle()
      return { row }
    })
    return ((await within(clock, limitMs, found)) ?? { row: 'not-read' as const }).row
  } catch (error: unknown) {
    if (!(error instanceof StoreUnavailableError)) throw error
    return 'not-read'
  }
}
