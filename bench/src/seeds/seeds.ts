/** A ratio that others published or that was measured with another coordinator. */
export interface SeedRatio {
  /** The name that the scenario gives its own ratio. */
  readonly name: string
  readonly ratio: number
  readonly source: string
  /** Absent where it belongs beside every store. */
  readonly store?: string
}

const PAGE_1 = 'seeds, page 1: DTM on MySQL, 4 cores'
const DTM_HERE = 'DTM on 2 cores'
const PAGE_3 = 'seeds, page 3: OneSQL, 96 threads'
const PAGE_4 = 'seeds, page 4: AliSQL hints against MySQL 5.6, 64 threads'

/** The ratios of the seeds for each scenario, by its name. */
export const seedRatios: Readonly<Record<string, readonly SeedRatio[]>> = {
  transfer: [
    { name: 'saga/none-2sql', ratio: 575 / 1232, source: PAGE_1 },
    { name: 'barrier/none-2sql', ratio: 531 / 1232, source: PAGE_1 },
    { name: 'saga/none-10sql', ratio: 357 / 551, source: PAGE_1 },
    { name: 'barrier/none-10sql', ratio: 341 / 551, source: PAGE_1 },
    { name: 'saga/none-2sql', ratio: 0.39, source: DTM_HERE },
    { name: 'barrier/none-2sql', ratio: 0.35, source: DTM_HERE },
    { name: 'saga/none-10sql', ratio: 0.66, source: DTM_HERE },
    { name: 'barrier/none-10sql', ratio: 0.62, source: DTM_HERE },
  ],
  submit: [{ name: 'memory/durable', ratio: 256_857 / 181_693, source: PAGE_3 }],
  'hot-row': [
    { name: 'grouped/plain', ratio: 554 / 1983, source: PAGE_4 },
    { name: 'grouped/plain', ratio: 41_000 / 1_900, source: 'a sketch of grouping on MariaDB, 64 callers' },
  ],
  saga: [
    { name: 'saga/relay', ratio: 597 / 12_700, source: `${DTM_HERE}, MySQL`, store: 'mysql' },
    { name: 'saga/relay', ratio: 2_889 / 12_700, source: `${DTM_HERE}, Redis without AOF`, store: 'redis' },
    { name: 'saga/relay', ratio: 688 / 12_700, source: `${DTM_HERE}, embedded bolt`, store: 'sqlite' },
  ],
}
