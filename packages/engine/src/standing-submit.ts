import { type Clock, type StoredTransaction, StoreUnavailableError } from '@counterstep/core'
import { CounterstepError, type ErrorCode } from '@counterstep/protocol'
import { type Accepted, digestContent, gidConflict, type NamedSubmission } from './acceptance.ts'
import { within } from './until-definite.ts'

const NO_ROOM_CODES: ReadonlySet<ErrorCode> = new Set([
  'SAGA_OVER_CAPACITY',
  'SAGA_TARGET_OVER_CAPACITY',
  'SAGA_STORE_FULL',
])

export interface StandingLook {
  readonly clock: Clock
  readonly limitMs: number
  /** Undefined: there is no turn for it now, and nothing was read. */
  readonly readRow: () => Promise<StoredTransaction | undefined> | undefined
}

export function isNoRoom(error: unknown): error is CounterstepError {
  return error instanceof CounterstepError && NO_ROOM_CODES.has(error.code)
}

/**
 * Answers a submit that found no room and may be the repeat of one that was accepted earlier: that one needs no room. Where
 * there is no time to look it up, the refusal says that it does not know. Throws the refusal where there is no such row.
 */
export async function findStanding(
  submission: NamedSubmission,
  refusal: CounterstepError,
  look: StandingLook,
): Promise<Accepted> {
  const { gid } = submission
  const row = await readStanding(look)
  if (row === 'not-looked') {
    const text = `${refusal.message}. This request stored nothing; an earlier one of ${gid} may stand: read it`
    throw new CounterstepError(refusal.code, text, { cause: refusal })
  }
  if (row === undefined) throw refusal
  if (row.digest !== digestContent(submission)) throw gidConflict(gid)
  return { gid, ack: 'durable' }
}

async function readStanding({
  clock,
  limitMs,
  readRow,
}: StandingLook): Promise<StoredTransaction | 'not-looked' | undefined> {
  const reading = readRow()
  if (reading === undefined) return 'not-looked'
  try {
    const found = reading.then((row) => ({ row }))
    return ((await within(clock, limitMs, found)) ?? { row: 'not-looked' as const }).row
  } catch (error: unknown) {
    if (!(error instanceof StoreUnavailableError)) throw error
    return 'not-looked'
  }
}
