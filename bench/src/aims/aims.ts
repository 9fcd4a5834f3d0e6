import type { Settings } from '../settings.ts'

/** The ratio that the project wants, on a machine of 2 cores with everything on them. */
export interface Aim {
  /** The name that the scenario gives its ratio. */
  readonly name: string
  /** Absent where it belongs beside every store. */
  readonly store?: string
  /** The load that it was set for. */
  readonly settings: Partial<Pick<Settings, 'connections' | 'branches' | 'sagas' | 'peers'>>
  readonly is: 'at least' | 'at most'
  readonly value: number
  /**
   * The ratio that a plain program with the same calls and writes came to (median of its runs), where ours stays below
   * the aim. See `bench/RESULTS.md`, "What was reached".
   */
  readonly byHand?: number
  /** The ratio is to a peer, and is missing where that is skipped or not asked for. */
  readonly isOfPeer?: true
}

const LOAD = { name: 'saga/relay', settings: { connections: 64, branches: 2 }, is: 'at least' } as const
const SAGA: readonly Aim[] = [
  { ...LOAD, store: 'sqlite', value: 0.55, byHand: 0.72 },
  { ...LOAD, store: 'mysql', value: 0.45, byHand: 0.46 },
  { ...LOAD, store: 'redis', value: 0.6, byHand: 0.56 },
]

const TRANSFER = { settings: { connections: 20 }, is: 'at least' } as const

const PEER = {
  settings: { connections: 64, branches: 2, peers: true },
  is: 'at least',
  isOfPeer: true,
} as const
const DTM: readonly Aim[] = ['dialect/dtm 1.19.0', 'dialect/dtm 1.19.0, gRPC'].flatMap((name) => [
  { ...PEER, name, store: 'mysql', value: 4 },
  { ...PEER, name, store: 'redis', value: 3 },
])

/** The aims of each scenario, by its name. */
export const AIMS: Readonly<Record<string, readonly Aim[]>> = {
  saga: SAGA,
  'two-writes-baseline': SAGA,
  'saga-branches': [
    { name: '20-branches/2-branches', settings: { connections: 64 }, is: 'at least', value: 1.3 },
  ],
  latency: [
    {
      name: 'latency/bound',
      settings: { connections: 1, branches: 2 },
      is: 'at most',
      value: 1,
      byHand: 1.28,
    },
  ],
  submit: [{ name: 'memory/durable', store: 'mysql', settings: {}, is: 'at least', value: 5 }],
  transfer: [
    { ...TRANSFER, name: 'saga/none-2sql', value: 0.7, byHand: 0.61 },
    { ...TRANSFER, name: 'barrier/none-2sql', value: 0.62 },
    { ...TRANSFER, name: 'grouped/none-2sql', value: 1.2 },
    { ...TRANSFER, name: 'saga/none-10sql', value: 0.8 },
    { ...TRANSFER, name: 'barrier/none-10sql', value: 0.78 },
  ],
  'hot-path': [
    { name: 'name/saga', settings: {}, is: 'at least', value: 0.97 },
    { name: 'name and 3 tags/saga', settings: {}, is: 'at least', value: 0.9 },
    { name: 'beside consoles/saga', settings: {}, is: 'at least', value: 0.97 },
  ],
  'hot-row': [{ name: 'grouped/plain', settings: { connections: 64 }, is: 'at least', value: 10 }],
  recover: [{ name: 'recover/fresh', settings: { sagas: 20_000 }, is: 'at least', value: 0.5 }],
  lists: [{ name: 'slowest page/300 ms', settings: {}, is: 'at most', value: 1 }],
  workflow: [{ name: 'workflow/saga', settings: { branches: 2 }, is: 'at least', value: 1.2 }],
  dtm: DTM,
  peers: [
    {
      name: 'p50 of counterstep-mariadb/by-hand-mariadb, 1 caller',
      settings: { branches: 2 },
      is: 'at most',
      value: 1.15,
      isOfPeer: true,
    },
  ],
  memory: [{ name: 'RSS/300 MB', settings: { sagas: 100_000 }, is: 'at most', value: 1 }],
}
