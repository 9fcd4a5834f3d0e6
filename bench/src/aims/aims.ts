/** What the project wants of a ratio, on a machine of 2 cores with everything on them. */
export interface Aim {
  /** As the scenario calls its ratio. */
  readonly name: string
  /** Absent where it belongs beside every store. */
  readonly store?: string
  /** Absent: with any number. */
  readonly connections?: number
  /** Absent: with any number. */
  readonly branches?: number
  readonly is: 'at least' | 'at most'
  readonly value: number
  /** What a plain program with the same calls and writes came to, where ours stays below: `bench/README.md`, "What was reached". */
  readonly byHand?: number
}

const LOAD = { name: 'saga/relay', connections: 64, branches: 2, is: 'at least' } as const
const SAGA: readonly Aim[] = [
  { ...LOAD, store: 'sqlite', value: 0.55, byHand: 0.72 },
  { ...LOAD, store: 'mysql', value: 0.45, byHand: 0.44 },
  { ...LOAD, store: 'redis', value: 0.6, byHand: 0.53 },
]

/** By scenario. */
export const AIMS: Readonly<Record<string, readonly Aim[]>> = {
  saga: SAGA,
  'storing-relay': SAGA,
  'saga-branches': [{ name: '20-branches/2-branches', is: 'at least', value: 1.3 }],
  latency: [{ name: 'latency/bound', is: 'at most', value: 1 }],
  submit: [{ name: 'memory/durable', is: 'at least', value: 5 }],
  transfer: [
    { name: 'saga/none-2sql', is: 'at least', value: 0.7, byHand: 0.61 },
    { name: 'barrier/none-2sql', is: 'at least', value: 0.62, byHand: 0.56 },
    { name: 'grouped/none-2sql', is: 'at least', value: 1.2, byHand: 0.78 },
    { name: 'saga/none-10sql', is: 'at least', value: 0.8, byHand: 0.75 },
    { name: 'barrier/none-10sql', is: 'at least', value: 0.78, byHand: 0.69 },
  ],
  'hot-row': [{ name: 'grouped/plain', connections: 64, is: 'at least', value: 10 }],
  recover: [{ name: 'recover/fresh', is: 'at least', value: 0.5 }],
  memory: [{ name: 'RSS/300 MB', is: 'at most', value: 1 }],
}
