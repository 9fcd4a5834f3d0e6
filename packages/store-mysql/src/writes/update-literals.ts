import {
  SENT_LIST_CODES,
  STATUS_CODES,
  type TransactionUpdate,
  toDueColumn,
  type UpdateHold,
} from '@counterstep/core'
import { literal } from '../sessions/literal.ts'

/** An update's values as SQL, written once, whichever statement it will be in. */
export interface UpdateLiterals {
  readonly hold: UpdateHold['type']
  /** What all rows of one statement have in common beside the hold: status, format, retrying, attention and sent list. */
  readonly shared: readonly string[]
  readonly own: RowLiterals
}

export interface RowLiterals {
  readonly gid: string
  readonly token: string
  readonly version: string
  /** An instant; of a finish the retention. */
  readonly due: string
  readonly writeId: string
  readonly progress: string
}

/** Throws an `AssertionError` for a value that no statement can carry. */
export function updateLiterals(update: TransactionUpdate): UpdateLiterals {
  const { gid, token, version, writeId, progress, hold } = update
  const { status, format, retrying, attention, sentList } = update
  const shared = [
    STATUS_CODES[status],
    format,
    retrying ? 1 : 0,
    attention ? 1 : 0,
    sentList === undefined ? null : SENT_LIST_CODES[sentList],
  ]
  return {
    hold: hold.type,
    shared: shared.map(literal),
    own: {
      gid: literal(gid),
      token: literal(token),
      version: literal(version),
      due: literal(toDueColumn(hold)),
      writeId: literal(writeId),
      progress: literal(progress),
    },
  }
}
