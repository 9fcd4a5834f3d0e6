/** The place of a run's databases. Each is new, empty and of one run only; closing the host removes them. */
export interface StoreHost {
  readonly software: StoreSoftware
  /**
   * Tells whether a new server voids all leases when it opens the store, so that no client waits for their end. A store
   * that only one process opens does.
   */
  readonly voidsLeasesAtOpen: boolean
  newDatabase(): Promise<Database>
  /** CPU time of the database's own process, where there is one and it runs here for this run alone. */
  cpuSeconds?(): number | undefined
  /** Memory of the same. */
  pssBytes?(): number | undefined
  close(): Promise<void>
}

/** The report shows this. */
export interface StoreSoftware {
  readonly version: string
  /** Those that decide what an acknowledged write survives, by the database's own names. */
  readonly settings: Readonly<Record<string, string>>
}

export interface Database {
  /** Variables of `counterstep serve` that name it; no options, which others on the machine can read. */
  readonly environment: Readonly<Record<string, string>>
  /**
   * Copies the one finished transaction that it holds so many times, under gids of their own. No server may have it
   * open. Tells how many there are each time some have been written.
   */
  copyFinished(copies: number, onCopied: (count: number) => void): Promise<void>
}
