/**
 * A bulk job gives one command to many transactions. Its list of gids is fixed when it is created, so that it never acts on
 * others than were previewed. Job and list are documents of the store: any node can go on with a job whose node has died.
 */
import type { Actor, BulkCommand, BulkState, ErrorCode, Gid } from '@counterstep/protocol'

/** A part is one document, and so many of the longest gids fit into it with their fates. */
export const BULK_PART_GIDS_MAX = 350
/** So many jobs may run at once. */
export const BULK_RUNNING_MAX = 3
export const BULK_KEPT_MAX = 200
export const BULK_KEPT_MS = 30 * 24 * 3_600_000
/** The canaries have this time to get on. */
export const BULK_WATCH_MS = 30_000
/** The job goes on by itself if at least this share of the canaries has got on. */
export const BULK_CANARY_SHARE_MIN = 0.8
/** The job pauses if more than this share of the last commands was refused. */
export const BULK_REFUSED_SHARE_MAX = 0.2
export const BULK_REFUSED_WINDOW = 50
/** After the last command, the job waits this long for answers before it ends. */
export const BULK_READ_BACK_MS = 60_000
/** A list that is not whole after this time was given up: its node has died. */
export const BULK_DRAFT_MS = 120_000

export interface BulkJob {
  /** It has 16 letters, and is the id of the command in each trail. */
  readonly id: string
  readonly command: BulkCommand
  readonly reason: string
  readonly by: Actor
  readonly createdAt: number
  /** The filter that chose the transactions, as a person wrote it. Absent: they were named one by one. */
  readonly filter?: string
  readonly ratePerSecond: number
  readonly canary: number
  readonly total: number
  readonly state: BulkState
  readonly stateSince: number
  /** Refusals count from this position of the list on. A person who resumes the job has seen those before it. */
  readonly countedFrom: number
  /** Why it has paused. */
  readonly pausedBy?: 'canary' | 'refusals' | 'person'
  /** Its list is still being written, until this instant at the latest. It is no job before its list is whole. */
  readonly draftUntil?: number
  /** The node that works at it, until this instant. */
  readonly lease?: { readonly node: string; readonly until: number }
}

/**
 * One letter says what has become of a gid. `w`: it waits for the command. `g`: the command is durable, and no branch has
 * answered since. `o`: it got on. `f`: its next answer was no success. `r`: the command was refused. `x`: there is no such
 * transaction.
 */
export type BulkFate = 'w' | 'g' | 'o' | 'f' | 'r' | 'x'

export interface BulkPart {
  readonly gids: readonly Gid[]
  /** One letter for each gid. */
  readonly fates: string
  /** The codes of the refused ones, by their position in this part. */
  readonly codes: Readonly<Record<number, ErrorCode>>
}

/** total = waiting + given + refused + gone, and given = gotOn + failedAgain + notAnswered. */
export interface BulkCounts {
  readonly total: number
  readonly waiting: number
  readonly given: number
  readonly gotOn: number
  readonly failedAgain: number
  readonly notAnswered: number
  readonly refused: Readonly<Partial<Record<ErrorCode, number>>>
  readonly gone: number
}

/** Whether the job is over for good. A paused one is not. */
export function hasBulkEnded({ state }: Pick<BulkJob, 'state'>): boolean {
  return state === 'done' || state === 'cancelled'
}

/** Whether the list of a job was given up before it was whole. Then the list and the job are to be removed. */
export function isAbandonedDraft({ draftUntil }: Pick<BulkJob, 'draftUntil'>, now: number): boolean {
  return draftUntil !== undefined && now >= draftUntil
}

export function splitIntoParts(gids: readonly Gid[]): BulkPart[] {
  const parts: BulkPart[] = []
  for (let from = 0; from < gids.length; from += BULK_PART_GIDS_MAX) {
    const some = gids.slice(from, from + BULK_PART_GIDS_MAX)
    parts.push({ gids: some, fates: 'w'.repeat(some.length), codes: {} })
  }
  return parts
}

/** Sets the fates of some gids of a part. */
export function withFates(
  part: BulkPart,
  changes: readonly { readonly position: number; readonly fate: BulkFate; readonly code?: ErrorCode }[],
): BulkPart {
  const fates = part.fates.split('')
  const codes: Record<number, ErrorCode> = { ...part.codes }
  for (const { position, fate, code } of changes) {
    fates[position] = fate
    if (code !== undefined) codes[position] = code
  }
  return { ...part, fates: fates.join(''), codes }
}

export function countFates(parts: readonly BulkPart[]): BulkCounts {
  const count = (fate: BulkFate) => parts.reduce((sum, { fates }) => sum + (fates.split(fate).length - 1), 0)
  const refused: Partial<Record<ErrorCode, number>> = {}
  for (const { codes } of parts) {
    for (const code of Object.values(codes)) refused[code] = (refused[code] ?? 0) + 1
  }
  const [gotOn, failedAgain, notAnswered] = [count('o'), count('f'), count('g')]
  return {
    total: parts.reduce((sum, { gids }) => sum + gids.length, 0),
    waiting: count('w'),
    given: gotOn + failedAgain + notAnswered,
    gotOn,
    failedAgain,
    notAnswered,
    refused,
    gone: count('x'),
  }
}
