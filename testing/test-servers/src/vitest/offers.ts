export type ServerKind =
  | 'mariadb'
  | 'mysql'
  | 'redis'
  | 'redis-cluster'
  /** The machine's PostgreSQL, or the one that the environment names. */
  | 'postgres'
  | 'postgres18'
  /** A pooler of transactions before a PostgreSQL. */
  | 'pgbouncer'
  | 'elasticmq'

/** The servers of one kind that the run has. */
export interface Offer {
  /** The shared server. */
  readonly shared: Available | Missing
  /** It is available if a test can start servers of its own. */
  readonly own: { readonly type: 'available' } | Missing
}

export interface Available {
  readonly type: 'available'
  readonly url: string
}

export interface Missing {
  readonly type: 'missing'
  readonly reason: string
  /** The tests fail if it is true, and are skipped otherwise. */
  readonly isError: boolean
}

/** The offers by kind. Kinds that no selected test file needs are left out. */
export type Offers = Readonly<Partial<Record<ServerKind, Offer>>>

declare module 'vitest' {
  interface ProvidedContext {
    readonly testServers: Offers
  }
}
