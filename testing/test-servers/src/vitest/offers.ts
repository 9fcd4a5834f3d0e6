export type ServerKind = 'mariadb' | 'mysql' | 'redis' | 'redis-cluster' | 'postgres' | 'elasticmq'

/** What the run has of one kind of server. */
export interface Offer {
  /** The shared server. */
  readonly shared: Available | Missing
  /** Whether a test can start servers of its own. */
  readonly own: { readonly type: 'available' } | Missing
}

export interface Available {
  readonly type: 'available'
  readonly url: string
}

export interface Missing {
  readonly type: 'missing'
  readonly reason: string
  /** Whether the tests fail for it or are skipped. */
  readonly isError: boolean
}

/** Kinds that no selected test file needs are left out. */
export type Offers = Readonly<Partial<Record<ServerKind, Offer>>>

declare module 'vitest' {
  interface ProvidedContext {
    readonly testServers: Offers
  }
}
