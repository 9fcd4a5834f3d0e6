import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { EngineSettings } from '@counterstep/engine'
import { SETTINGS, type SettingValues } from './settings.ts'

/** Everything `serve` needs to know from outside, checked. */
export interface ServeConfig {
  readonly host: string
  readonly port: number
  readonly store: { readonly path: string; readonly synchronous: 'FULL' | 'NORMAL' }
  readonly logLevel: SettingValues['logLevel']
  /** Print one line {"url": …} on stdout when listening, for a harness that starts us. */
  readonly readyJson: boolean
  readonly engine: EngineSettings
  /** What is odd but no reason to refuse; belongs into the log. */
  readonly warnings: readonly string[]
}

export type Command =
  | { readonly type: 'serve'; readonly config: ServeConfig }
  | { readonly type: 'help' }
  | { readonly type: 'version' }
  /** Every problem at once, each a sentence that names its flag or variable. */
  | { readonly type: 'refused'; readonly problems: readonly string[] }

type Environment = Readonly<Record<string, string | undefined>>
type SettingName = keyof typeof SETTINGS

const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[]

/** The only place that reads the environment. A flag wins over its variable. */
export function readCommand(args: readonly string[], environment: Environment = process.env): Command {
  const line = readLine(args)
  if (line.switches.has('help')) return { type: 'help' }
  if (line.switches.has('version')) return { type: 'version' }
  const values = readValues(line.values, environment)
  const problems = [...line.problems, ...values.problems, ...contradictions(values.known, environment)]
  if (problems.length > 0 || !isComplete(values.known)) return { type: 'refused', problems }
  return { type: 'serve', config: toConfig(values.known, line.switches.has('ready-json'), environment) }
}

interface Line {
  readonly values: ReadonlyMap<string, string>
  readonly switches: ReadonlySet<string>
  readonly problems: readonly string[]
}

const SWITCHES = ['help', 'version', 'ready-json'] as const

// parseArgs in its strict form throws at the first fault; its tokens let us name them all.
function readLine(args: readonly string[]): Line {
  const flags = SETTING_NAMES.map((name) => SETTINGS[name].flag)
  const { tokens } = parseArgs({
    args: [...args],
    strict: false,
    allowPositionals: true,
    tokens: true,
    options: {
      ...Object.fromEntries(flags.map((flag) => [flag, { type: 'string' as const }])),
      ...Object.fromEntries(SWITCHES.map((flag) => [flag, { type: 'boolean' as const }])),
    },
  })
  const values = new Map<string, string>()
  const switches = new Set<string>()
  const commands: string[] = []
  const problems: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') commands.push(token.value)
    if (token.kind !== 'option') continue
    if (SWITCHES.some((name) => name === token.name)) switches.add(token.name)
    else if (!flags.includes(token.name)) problems.push(`${token.rawName} is no option; see --help.`)
    else if (token.value === undefined) problems.push(`${token.rawName} needs a value.`)
    else values.set(token.name, token.value)
  }
  const [command, ...more] = commands
  if (command === undefined) problems.push('Say what to do: counterstep serve.')
  else if (command !== 'serve') problems.push(`"${command}" is no command; there is serve.`)
  if (more.length > 0) problems.push(`Nothing may follow serve but options: ${more.join(' ')}`)
  return { values, switches, problems }
}

function readValues(flags: ReadonlyMap<string, string>, environment: Environment) {
  const known: { [Name in SettingName]?: unknown } = {}
  const problems: string[] = []
  for (const name of SETTING_NAMES) {
    const { flag, variable, fallback, parse } = SETTINGS[name]
    const fromLine = flags.get(flag)
    const fromEnvironment = environment[variable]
    const parsed = parse(fromLine ?? fromEnvironment ?? fallback)
    const source = fromLine === undefined ? variable : `--${flag}`
    if ('problem' in parsed) problems.push(`${source} ${parsed.problem}.`)
    else known[name] = parsed.value
  }
  return { known: known as Partial<SettingValues>, problems }
}

function isComplete(values: Partial<SettingValues>): values is SettingValues {
  return SETTING_NAMES.every((name) => name in values)
}

/** Rules between settings, each checked when both sides are known. */
function contradictions(values: Partial<SettingValues>, environment: Environment): string[] {
  const problems: string[] = []
  const { retryInitialMs, retryCapMs, pollMs, leaseMs } = values
  if (retryInitialMs !== undefined && retryCapMs !== undefined && retryInitialMs > retryCapMs) {
    problems.push(`--retry-initial-ms (${retryInitialMs}) must not be over --retry-cap-ms (${retryCapMs}).`)
  }
  if (pollMs !== undefined && leaseMs !== undefined && pollMs > leaseMs) {
    problems.push(`--poll-ms (${pollMs}) must not be over --lease-ms (${leaseMs}).`)
  }
  if (environment.AWS_LAMBDA_FUNCTION_NAME !== undefined) {
    problems.push('The embedded store is refused on Lambda: its disk is lost with the function.')
  }
  return problems
}

function toConfig(values: SettingValues, readyJson: boolean, environment: Environment): ServeConfig {
  const path = values.store === '' ? join(values.data, 'counterstep.db') : values.store
  const synchronous = values.synchronous === 'full' ? 'FULL' : 'NORMAL'
  return Object.freeze({
    host: values.host,
    port: values.port,
    store: Object.freeze({ path: resolve(path), synchronous }),
    logLevel: values.logLevel,
    readyJson,
    engine: toEngineSettings(values),
    warnings: Object.freeze(warnings(values, environment)),
  })
}

function toEngineSettings(values: SettingValues): EngineSettings {
  return Object.freeze({
    inFlightMax: values.inFlightMax,
    leaseMs: values.leaseMs,
    pollMs: values.pollMs,
    holdMs: values.holdMs,
    checkpointMs: values.checkpointMs,
    retentionMs: values.retentionMs,
    branchTimeoutMs: values.branchTimeoutMs,
    retry: Object.freeze({
      initialMs: values.retryInitialMs,
      factor: values.retryFactor,
      capMs: values.retryCapMs,
      jitter: values.retryJitter,
      limit: values.retryLimit,
    }),
    storeTimeoutMs: values.storeTimeoutMs,
    waitersMax: values.waitersMax,
    claimLimit: values.claimLimit,
    recoveryInFlightMax: values.recoveryInFlightMax,
    callsInFlightMax: values.callsInFlightMax,
    hintsMax: values.hintsMax,
    memoryAckMax: values.memoryAckMax,
  })
}

function warnings(values: SettingValues, environment: Environment): string[] {
  const variables = new Set<string>(SETTING_NAMES.map((name) => SETTINGS[name].variable))
  // No reason to refuse: Kubernetes adds variables of its own for a service called counterstep.
  const unknown = Object.keys(environment)
    .filter((name) => name.startsWith('COUNTERSTEP_') && !variables.has(name))
    .map((name) => `${name} is no setting and was ignored.`)
  if (isLoopback(values.host)) return unknown
  return [
    ...unknown,
    `Listening on ${values.host}: anyone who reaches it may submit, abort and stop transactions. ` +
      'There is no authentication yet.',
  ]
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host)
}
