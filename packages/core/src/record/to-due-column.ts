import type { UpdateHold } from '../ports/store.ts'

/**
 * Returns the number that a store writes to `due_at`: an instant for `release` and `command`, the retention in
 * milliseconds for `finish`. Null means unchanged for `keep`, never purged for `finish`, and due now for `command`.
 */
export function toDueColumn(hold: UpdateHold): number | null {
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
