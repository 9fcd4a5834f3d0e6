/** One figure of our own report: of a row, or a ratio. */
export type Place =
  | { readonly row: string; readonly of: 'rate' | 'p50' | 'p95' }
  | { readonly row: string; readonly figure: string }
  | { readonly ratio: string }

export interface SeedPage {
  readonly number: number
  readonly title: string
  /** The machine that the seeds measured on. */
  readonly machine: string
  readonly scenario: string
  readonly heads: readonly string[]
  readonly lines: readonly SeedLine[]
}

/** The seeds' figures, and ours for the same heads; undefined where there is none. */
export interface SeedLine {
  readonly name: string
  readonly theirs: readonly (number | undefined)[]
  readonly ours: readonly (Place | undefined)[]
}

const TRANSFER_ROWS = [
  'sysbench',
  'writes',
  'none-2sql',
  'saga-2sql',
  'barrier-2sql',
  'none-10sql',
  'saga-10sql',
  'barrier-10sql',
  'grouped-2sql',
]

const onPage1 = (figure: string): readonly Place[] => TRANSFER_ROWS.map((row) => ({ row, figure }))
const THREADS = ['1 caller', '8 callers', '64 callers']
const onPage4 = (way: string): readonly Place[] =>
  THREADS.flatMap((callers): readonly Place[] => [
    { row: `${way}, ${callers}`, of: 'rate' },
    { row: `${way}, ${callers}`, of: 'p50' },
  ])
const NONE = undefined

export const SEED_PAGES: readonly SeedPage[] = [
  {
    number: 1,
    title: 'transfer: DTM on MySQL',
    machine: '4 cores, MySQL 5.7 on the same host, 20 connections',
    scenario: 'transfer',
    heads: [
      'MySQL alone',
      'our 6 writes',
      'no saga 2SQL',
      'saga 2SQL',
      'barrier 2SQL',
      'no saga 10SQL',
      'saga 10SQL',
      'barrier 10SQL',
      'grouped 2SQL',
    ],
    lines: [
      {
        name: 'Global-TPS',
        theirs: [NONE, NONE, 1232, 575, 531, 551, 357, 341, NONE],
        ours: TRANSFER_ROWS.map((row) => (row.endsWith('sql') ? { row, of: 'rate' } : NONE)),
      },
      {
        name: 'of no saga',
        theirs: [NONE, NONE, NONE, 575 / 1232, 531 / 1232, NONE, 357 / 551, 341 / 551, NONE],
        ours: [
          NONE,
          NONE,
          NONE,
          { ratio: 'saga/none-2sql' },
          { ratio: 'barrier/none-2sql' },
          NONE,
          { ratio: 'saga/none-10sql' },
          { ratio: 'barrier/none-10sql' },
          { ratio: 'grouped/none-2sql' },
        ],
      },
      {
        name: 'DB-TPS',
        theirs: [2006, NONE, 2464, 2300, 2124, 1102, 1428, 1364, NONE],
        ours: onPage1('DB-TPS'),
      },
      {
        name: 'OPS',
        theirs: [12_039, NONE, 4928, 5750, 6372, 10_620, 9282, 9548, NONE],
        ours: onPage1('OPS'),
      },
    ],
  },
  {
    number: 2,
    title: 'saga-empty: DTM on Redis',
    machine: 'a 4-core Redis host at 100 % of one core, two 8-core hosts of DTM, branches with empty URLs',
    scenario: 'saga-empty',
    heads: ['1 server', '2 servers'],
    lines: [
      {
        name: 'sagas/s',
        theirs: [NONE, 10_875],
        ours: [
          { row: '1 server', of: 'rate' },
          { row: '2 servers', of: 'rate' },
        ],
      },
    ],
  },
  {
    number: 3,
    title: 'submit: OneSQL’s asynchronous commit',
    machine: '96 threads, sysbench update_non_index, memory file system',
    scenario: 'submit',
    heads: ['waits for the flush', 'does not wait', 'times as many'],
    lines: [
      {
        name: 'per second, 96 callers',
        theirs: [181_693, 256_857, 256_857 / 181_693],
        ours: [
          { row: 'durable, 96 connections', of: 'rate' },
          { row: 'memory, 96 connections', of: 'rate' },
          { ratio: 'memory/durable, 96 connections' },
        ],
      },
      {
        name: 'p95 ms, 96 callers',
        theirs: [1.05, 0.78, NONE],
        ours: [
          { row: 'durable, 96 connections', of: 'p95' },
          { row: 'memory, 96 connections', of: 'p95' },
          NONE,
        ],
      },
      {
        name: 'per second, 1 caller, 5 ms flush',
        theirs: [NONE, NONE, NONE],
        ours: [
          { row: 'durable, 1 connection, 5 ms flush', of: 'rate' },
          { row: 'memory, 1 connection, 5 ms flush', of: 'rate' },
          { ratio: 'memory/durable' },
        ],
      },
    ],
  },
  {
    number: 4,
    title: 'hot-row: AliSQL’s hints',
    machine: '8 cores, sysbench, one table, one row; theirs are mean times, ours p50',
    scenario: 'hot-row',
    heads: ['1, per second', 'ms', '8, per second', 'ms', '64, per second', 'ms'],
    lines: [
      { name: 'AliSQL with hints', theirs: [513, 5.8, 552, 43, 554, 345], ours: [] },
      { name: 'MySQL 5.6', theirs: [948, 3.2, 953, 25, 1983, 195], ours: [] },
      { name: 'cloud RDS', theirs: [853, 3.5, 2174, 11, 2210, 87], ours: [] },
      { name: 'bare UPDATE', theirs: [], ours: onPage4('update') },
      { name: 'barrier', theirs: [], ours: onPage4('plain') },
      { name: 'grouped barrier', theirs: [], ours: onPage4('grouped') },
    ],
  },
]
