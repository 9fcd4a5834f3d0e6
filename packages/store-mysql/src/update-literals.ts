import type { TransactionUpdate, UpdateHold } from '@counterstep/core'
import { literal } from './literal.ts'
import { SENT_LIST_CODES, STATUS_CODES } from './row-codes.ts'

/** An update's values as SQL, written once, whichever statement it will be in. */
export interface UpdateLiterals {
  /** What all rows of one statement have in common: hold, status, format, retrying, attention and sent list. */
  readonly shared: readonly string[]
  readonly own: {
    readonly gid: string
    readonly token: string
    readonly version: string
    /** An instant; of a finish the retention. */
    readonly due: string
    readonly writeId: string
    readonly progress: string
  }
}

// As update.sql has them.
const HOLD_CODES: Readonly<Record<UpdateHold['type'], number>> = {
  keep: 0,
  release: 1,
  finish: 2,
  command: 3,
}

/** Throws an `AssertionError` for a value that no statement can carry. */
export function updateLiterals(update: TransactionUpdate): UpdateLiterals {
  const { gid, token, version, writeId, progress, hold } = update
  const { status, format, retrying, attention, sentList } = update
  const shared = [
    HOLD_CODES[hold.type],
    STATUS_CODES[status],
    format,
    retrying ? 1 : 0,
    attention ? 1 : 0,
    sentList === undefined ? null : SENT_LIST_CODES[sentList],
  ]
  return {
    shared: shared.map(literal),
    own: {
      gid: literal(gid),
      token: literal(token),
      version: literal(version),
      due: literal(dueOf(hold)),
      writeId: literal(writeId),
      progress: literal(progress),
    },
  }
}

function dueOf(hold: UpdateHold): number | null {
  switch (hold.type) {
    case 'keep':
      return null
    case 'release':
      return hold.dueAt
    case 'finish':
      return hold.retentionMs === 'never' ? null : hold.retentionMs
    case 'command':
      return hold.dueAt ?? null
  }
}
