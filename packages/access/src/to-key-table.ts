import type { PanelTable } from '@counterstep/protocol'
import { isActive, type StoredKey } from './stored-key.ts'

/** Makes the table of keys, for people. Neither a secret nor its digest is in it. */
export function toKeyTable(keys: readonly StoredKey[], nowMs: number): PanelTable {
  return {
    columns: [
      { title: 'id', type: 'code' },
      { title: 'name', type: 'text' },
      { title: 'scopes', type: 'text' },
      { title: 'made', type: 'instant' },
      { title: 'expires', type: 'instant' },
      { title: 'state', type: 'text' },
    ],
    rows: keys
      .toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.createdAt - b.createdAt))
      .map((key) => [
        key.id,
        key.name,
        key.scopes.join(', '),
        key.createdAt,
        key.expiresAt ?? 'never',
        isActive(key, nowMs) ? 'good' : 'expired',
      ]),
  }
}
