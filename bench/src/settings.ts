import { parseArgs } from 'node:util'

export const STORES = ['sqlite'] as const
export type StoreName = (typeof STORES)[number]

export interface Settings {
  readonly store: StoreName
  /** Measured time of one row in one round. */
  readonly seconds: number
  readonly warmUpSeconds: number
  readonly connections: number
  readonly branches: number
  readonly rounds: number
  /** Folder for a CPU profile of the server; such a run's figures are not to be quoted. */
  readonly cpuProf?: string
}

export interface Command {
  readonly scenario: string
  readonly settings: Settings
  readonly json: boolean
}

export const DEFAULT_SETTINGS: Settings = {
  store: 'sqlite',
  seconds: 3,
  warmUpSeconds: 1,
  connections: 64,
  branches: 2,
  rounds: 3,
}

const BRANCHES_MAX = 100

export const HELP = `npm run bench -- SCENARIO [options]

  --store NAME         ${STORES.join(', ')} (${DEFAULT_SETTINGS.store})
  --seconds N          measured time of one row in one round (${DEFAULT_SETTINGS.seconds})
  --warm-up N          seconds before it (${DEFAULT_SETTINGS.warmUpSeconds})
  --connections N      (${DEFAULT_SETTINGS.connections})
  --branches N         of one saga; as many calls of the relay (${DEFAULT_SETTINGS.branches})
  --rounds N           (${DEFAULT_SETTINGS.rounds})
  --cpu-prof FOLDER    writes a CPU profile of the server
  --json               prints the result as one JSON object on the last line
`

/** Throws an Error that says what is wrong. */
export function readCommand(argv: readonly string[]): Command | 'help' {
  const text = { type: 'string' } as const
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      store: text,
      seconds: text,
      'warm-up': text,
      connections: text,
      branches: text,
      rounds: text,
      'cpu-prof': text,
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const [scenario, ...others] = positionals
  if (values.help || scenario === undefined) return 'help'
  if (others.length > 0) throw new Error(`one scenario at a time, not also ${others.join(' ')}`)
  const { seconds, warmUpSeconds, connections, branches, rounds } = DEFAULT_SETTINGS
  const settings: Settings = {
    store: storeOf(values.store),
    seconds: numberOf('seconds', values.seconds, seconds, 3_600),
    warmUpSeconds: numberOf('warm-up', values['warm-up'], warmUpSeconds, 60),
    connections: numberOf('connections', values.connections, connections, 4_096),
    branches: numberOf('branches', values.branches, branches, BRANCHES_MAX),
    rounds: numberOf('rounds', values.rounds, rounds, 1_000),
    ...(values['cpu-prof'] === undefined ? {} : { cpuProf: values['cpu-prof'] }),
  }
  return { scenario, settings, json: values.json }
}

function storeOf(given = DEFAULT_SETTINGS.store as string): StoreName {
  const store = STORES.find((name) => name === given)
  if (store === undefined) throw new Error(`--store ${given}: this version has only ${STORES.join(', ')}`)
  return store
}

function numberOf(flag: string, given: string | undefined, fallback: number, max: number): number {
  if (given === undefined) return fallback
  const value = /^\d{1,9}$/.test(given) ? Number(given) : 0
  if (value < 1 || value > max)
    throw new Error(`--${flag} ${given}: expected a whole number from 1 to ${max}`)
  return value
}
