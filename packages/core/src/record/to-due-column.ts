import type { UpdateHold } from '../ports/store.ts'

/** The one number of a hold, as a store may write it: an instant, of a finish the retention. Null: none, for ever, or due now. */
export function holdDue(hold: UpdateHold): number | null {
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
