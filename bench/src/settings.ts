import { parseArgs } from 'node:util'
import { STORES, type StoreName } from './stores/store-names.ts'

export interface Settings {
  readonly store: StoreName
  /** Measured time of one row in one round. */
  readonly seconds: number
  readonly warmUpSeconds: number
  readonly connections: number
  readonly branches: number
  readonly rounds: number
  /** Interrupted ones, or ones that become due, in a round; of the scenarios that recover some. */
  readonly sagas: number
  /** Finished transactions in the full table. */
  readonly rows: number
  /** The number in each table of the bank. */
  readonly accounts: number
  /** URLs of servers that speak DTM's dialect, with commas between. */
  readonly target?: string
  /** Folder for CPU profiles of the servers; such a run's figures are not to be quoted. */
  readonly cpuProf?: string
  /** wrk measures each row too, in the same rounds. */
  readonly wrk?: boolean
  /** Names of engines with commas between (peers). */
  readonly only?: string
  /** Other systems are installed, and do the same. */
  readonly peers?: boolean
}

export interface Command {
  readonly scenario: string
  /** The settings that the command line names, and no others. */
  readonly given: Partial<Settings>
  readonly json: boolean
}

export const DEFAULT_SETTINGS: Settings = {
  store: 'sqlite',
  seconds: 3,
  warmUpSeconds: 1,
  connections: 64,
  branches: 2,
  rounds: 3,
  sagas: 20_000,
  rows: 1_000_000,
  accounts: 200_000,
}

const NUMBERS = {
  seconds: { flag: 'seconds', max: 3_600, help: 'measured time of one row in one round' },
  warmUpSeconds: { flag: 'warm-up', max: 60, help: 'seconds before it' },
  connections: { flag: 'connections', max: 4_096, help: 'callers at once' },
  branches: { flag: 'branches', max: 100, help: 'of one saga; as many calls of the relay' },
  rounds: { flag: 'rounds', max: 1_000, help: 'of each row, one after the other' },
  sagas: { flag: 'sagas', max: 1_000_000, help: 'interrupted ones (recover), or due at once (flat)' },
  rows: { flag: 'rows', max: 100_000_000, help: 'finished transactions in the full table (flat)' },
  accounts: {
    flag: 'accounts',
    max: 10_000_000,
    help: 'in each table of the bank (transfer, workflow)',
  },
} as const

type NumberName = keyof typeof NUMBERS

const NUMBER_NAMES = Object.keys(NUMBERS) as NumberName[]

export const HELP = `npm run bench -- SCENARIO [options]
npm run bench -- all [options]      the headline scenarios, on one page beside the seeds' tables

${line('store NAME', `${STORES.join(', ')}; where it is, see the readme`, DEFAULT_SETTINGS.store)}
${NUMBER_NAMES.map((name) => line(`${NUMBERS[name].flag} N`, NUMBERS[name].help, DEFAULT_SETTINGS[name])).join('\n')}
${line('target URL', 'of a server that speaks DTM’s dialect (dtm); several with commas between')}
${line('only NAME', 'engines, or the beginnings of their names; several with commas between (peers)')}
${line('cpu-prof FOLDER', 'writes CPU profiles of the servers')}
${line('wrk', 'wrk measures each row too; its rates stand beside ours')}
${line('peers', 'Restate and DBOS do the same, which npm installs once (workflow); or DTM, which Go builds once (dtm)')}
${line('json', 'prints the result as one JSON object on the last line')}

A scenario may have defaults of its own; a report says what it ran with.
`

function line(flag: string, help: string, fallback?: string | number): string {
  return `  --${flag.padEnd(18)} ${help}${fallback === undefined ? '' : ` (${fallback})`}`
}

/** Throws an Error that says what is wrong. */
export function readCommand(argv: readonly string[]): Command | 'help' {
  const text = { type: 'string' } as const
  const flags = NUMBER_NAMES.map((name) => NUMBERS[name].flag)
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      ...Object.fromEntries(flags.map((flag) => [flag, text])),
      store: text,
      target: text,
      only: text,
      'cpu-prof': text,
      wrk: { type: 'boolean', default: false },
      peers: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const [scenario, ...others] = positionals
  if (values.help || argv.length === 0) return 'help'
  if (scenario === undefined) throw new Error('name a scenario; --help lists them')
  if (others.length > 0) throw new Error(`one scenario at a time, not also ${others.join(' ')}`)
  const given: Partial<Settings> = {
    ...(values.store === undefined ? {} : { store: readStore(values.store) }),
    ...readNumbers(values),
    ...(values.target === undefined ? {} : { target: values.target }),
    ...(values.only === undefined ? {} : { only: values.only }),
    ...(values['cpu-prof'] === undefined ? {} : { cpuProf: values['cpu-prof'] }),
    ...(values.wrk ? { wrk: true } : {}),
    ...(values.peers ? { peers: true } : {}),
  }
  return { scenario, given, json: values.json }
}

function readStore(given: string): StoreName {
  const store = STORES.find((name) => name === given)
  if (store === undefined) throw new Error(`--store ${given}: there are ${STORES.join(', ')}`)
  return store
}

function readNumbers(values: Readonly<Record<string, unknown>>): Partial<Record<NumberName, number>> {
  const given = NUMBER_NAMES.filter((name) => values[NUMBERS[name].flag] !== undefined)
  return Object.fromEntries(given.map((name) => [name, readNumber(name, String(values[NUMBERS[name].flag]))]))
}

function readNumber(name: NumberName, given: string): number {
  const { flag, max } = NUMBERS[name]
  const value = /^\d{1,9}$/.test(given) ? Number(given) : 0
  if (value < 1 || value > max)
    throw new Error(`--${flag} ${given}: expected a whole number from 1 to ${max}`)
  return value
}
