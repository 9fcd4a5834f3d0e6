import type { StoreSoftware } from '../stores/store-host.ts'

/** Describes a report that names no store. */
export function describeNoStore(hasStoreForEachRow = false): string {
  return hasStoreForEachRow ? 'each row has a store of its own, see the notes' : 'nothing is stored'
}

/** The store that a figure was measured on, by the server's own word and by the database's. */
export interface StoreFacts {
  readonly name: string
  readonly durabilityClass: string
  readonly failover: string
  readonly software: StoreSoftware
}
