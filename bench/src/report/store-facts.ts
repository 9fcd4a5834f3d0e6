import type { StoreSoftware } from '../stores/store-host.ts'

/** The store that a figure was measured on, by the server's own word and by the database's. */
export interface StoreFacts {
  readonly name: string
  readonly durabilityClass: string
  readonly failover: string
  readonly software: StoreSoftware
}
