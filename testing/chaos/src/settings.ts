import { parseArgs } from 'node:util'

/** The stores that the runs know. */
export const STORES = ['sqlite', 'mysql', 'postgres', 'redis'] as const
export type StoreName = (typeof STORES)[number]

/** The arguments of `npm run chaos`. */
export interface ChaosCommand {
  readonly store: StoreName
  readonly sagas: number
  readonly kills: number
  readonly pauses: number
  readonly ambiguous: number
  readonly seed: number
  /** The banks do what they are told as often as they are told. Such a run must fail. */
  readonly withoutBarrier: boolean
  /** All transactions of clients are workflows. */
  readonly onlyWorkflows: boolean
  /** The servers are apps that have Counterstep within them, and functions that call one bank. */
  readonly inApps: boolean
  /** Standard output has nothing but the result as JSON. */
  readonly json: boolean
}

const SAGAS_DEFAULT = 2_000
const SAGAS_PER_KILL = 200
const SAGAS_PER_PAUSE = 400
const SAGAS_PER_AMBIGUOUS = 10

export const HELP = `npm run chaos -- --store NAME [options]

Servers, banks and databases as real processes, hurt by a seeded nemesis, and then audited.

  --store NAME      ${STORES.join(', ')} (sqlite)
  --sagas N         transactions of clients (${SAGAS_DEFAULT})
  --only-workflows  all of these are workflows, and not only some
  --in-apps         the servers are apps that have Counterstep within them, on sqlite or mysql, and
                    functions that call one of the banks
  --kills K         SIGKILLs of servers, and as many of the services that run workflows
                    (one for ${SAGAS_PER_KILL} sagas)
  --pauses P        SIGSTOPs of servers past their lease (one for ${SAGAS_PER_PAUSE} sagas)
  --ambiguous A     commits whose answer is lost; the embedded store has no network that could lose it
                    (one for ${SAGAS_PER_AMBIGUOUS} sagas)
  --seed S          of everything that is drawn (from the clock)
  --without-barrier the banks do without it: to see that the audit finds what is wrong then
  --json            standard output has nothing but the last line; the rest goes to standard error

The last line is the result as one JSON object.
Exit code 1: an invariant is broken, or a fault did not bite. Then the logs stay, and their folder is named.
`

const MAX = 999_999_999

/** Throws an Error that says what is wrong. */
export function readCommand(argv: readonly string[], now: () => number): ChaosCommand | 'help' {
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    args: [...argv],
    options: {
      store: text,
      sagas: text,
      kills: text,
      pauses: text,
      ambiguous: text,
      seed: text,
      'without-barrier': { type: 'boolean', default: false },
      'only-workflows': { type: 'boolean', default: false },
      'in-apps': { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return 'help'
  if (values['only-workflows'] && values['without-barrier'])
    throw new Error('--only-workflows: a workflow is undone by the rows of the barrier')
  const store = readStore(values.store ?? 'sqlite')
  if (values['in-apps'] && store !== 'sqlite' && store !== 'mysql')
    throw new Error('--in-apps: the app opens sqlite and mysql')
  const sagas = readNumber('sagas', values.sagas, 1) ?? SAGAS_DEFAULT
  return {
    store,
    sagas,
    kills: readNumber('kills', values.kills, 0) ?? Math.ceil(sagas / SAGAS_PER_KILL),
    pauses: readNumber('pauses', values.pauses, 0) ?? Math.ceil(sagas / SAGAS_PER_PAUSE),
    ambiguous: readNumber('ambiguous', values.ambiguous, 0) ?? Math.ceil(sagas / SAGAS_PER_AMBIGUOUS),
    seed: readNumber('seed', values.seed, 0) ?? now() % MAX,
    withoutBarrier: values['without-barrier'],
    onlyWorkflows: values['only-workflows'],
    inApps: values['in-apps'],
    json: values.json,
  }
}

function readStore(given: string): StoreName {
  const store = STORES.find((name) => name === given)
  if (store === undefined) throw new Error(`--store ${given}: there are ${STORES.join(', ')}`)
  return store
}

function readNumber(flag: string, given: string | undefined, min: number): number | undefined {
  if (given === undefined) return undefined
  const value = /^\d{1,9}$/.test(given) ? Number(given) : -1
  if (value < min || value > MAX) {
    throw new Error(`--${flag} ${given}: expected a whole number from ${min} to ${MAX}`)
  }
  return value
}
