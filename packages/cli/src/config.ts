import type { HttpBranchCallerOptions } from '@counterstep/branch-http'
import { assert } from '@counterstep/core'
import type { EngineSettings } from '@counterstep/engine'
import type { TargetRules } from '@counterstep/targets'
import { type AccessConfig, accessConfig, accessProblems, accessWarnings } from './access-config.ts'
import { readLine } from './command-line.ts'
import { COMMANDS, type CommandName, type SettingName, settingsOf } from './commands.ts'
import { type KeysCommand, readKeysCommand } from './keys-command.ts'
import { SETTINGS, type SettingValues } from './settings.ts'
import {
  type Connection,
  connection,
  type Sources,
  type StoreConfig,
  storeConfig,
  storeProblems,
  storeWarnings,
} from './store-config.ts'
import {
  type GivenPassword,
  PASSWORD_FILE_VARIABLE,
  PASSWORD_VARIABLE,
  readPassword,
} from './store-password.ts'
import { callerOptions, targetProblems, targetRules, targetWarnings } from './target-config.ts'

/** Everything `serve` needs to know from outside, checked. */
export interface ServeConfig {
  readonly host: string
  readonly port: number
  /** Of DTM's HTTP face. */
  readonly dtmPort: number | 'off'
  readonly access: AccessConfig
  readonly store: StoreConfig
  /** Undefined: branch calls are not signed. */
  readonly signingKeyFile: string | undefined
  readonly logLevel: SettingValues['logLevel']
  /** Print one line {"url": …} on stdout when listening, for a harness that starts us. */
  readonly readyJson: boolean
  readonly engine: EngineSettings
  /** Where branches may be called. */
  readonly targets: TargetRules
  readonly caller: HttpBranchCallerOptions
  /** What is odd but no reason to refuse; belongs into the log. */
  readonly warnings: readonly string[]
}

/** A sqlite store is migrated by who opens it. */
export type MigrateConfig = Connection | { readonly type: 'sqlite' }

export type Command =
  | { readonly type: 'serve'; readonly config: ServeConfig }
  | { readonly type: 'migrate'; readonly config: MigrateConfig }
  | { readonly type: 'keys'; readonly command: KeysCommand }
  | { readonly type: 'help'; readonly of: CommandName }
  | { readonly type: 'version' }
  /** Every problem at once, each a sentence that names its flag or variable. */
  | { readonly type: 'refused'; readonly problems: readonly string[] }

type Environment = Readonly<Record<string, string | undefined>>

/** The only place that reads the environment. A flag wins over its variable. */
export function readCommand(args: readonly string[], environment: Environment = process.env): Command {
  if (args[0] === 'keys') {
    const keys = readKeysCommand(args.slice(1), environment)
    return 'problems' in keys ? { type: 'refused', ...keys } : { type: 'keys', ...keys }
  }
  const line = readLine(args)
  const type = line.command ?? 'serve'
  if (line.switches.has('help')) return { type: 'help', of: type }
  if (line.switches.has('version')) return { type: 'version' }
  const { known, sources, problems } = readValues(settingsOf(type), line.values, environment)
  const secret = readPassword(environment)
  const password = 'problem' in secret ? undefined : secret.value
  problems.unshift(...line.problems)
  if ('problem' in secret) problems.push(secret.problem)
  problems.push(...storeProblems(known, sources, password))
  if (type === 'serve')
    problems.push(...accessProblems(known), ...contradictions(known, environment), ...targetProblems(known))
  if (problems.length > 0) return { type: 'refused', problems }
  if (type === 'migrate' && hasAll(known, COMMANDS.migrate)) {
    const { store } = known
    return {
      type,
      config: store.family === 'sqlite' ? { type: 'sqlite' } : connection(store, known, password),
    }
  }
  assert(hasAll(known, COMMANDS.serve), 'a setting is neither known nor refused')
  const found = { values: known, sources, password }
  return { type: 'serve', config: toConfig(found, line.switches.has('ready-json'), environment) }
}

interface Found {
  readonly values: SettingValues
  readonly sources: Sources
  readonly password: GivenPassword | undefined
}

function readValues(
  names: readonly SettingName[],
  flags: ReadonlyMap<string, string>,
  environment: Environment,
) {
  const known: { [Name in SettingName]?: unknown } = {}
  const sources = new Map<SettingName, string>()
  const problems: string[] = []
  for (const name of names) {
    const { flag, variable, fallback, parse } = SETTINGS[name]
    const fromLine = flags.get(flag)
    // An empty variable is what Compose makes of an unset one.
    const given = fromLine ?? (environment[variable] || undefined)
    const source = fromLine === undefined ? variable : `--${flag}`
    const parsed = parse(given ?? fallback)
    if ('problem' in parsed) problems.push(`${source} ${parsed.problem}.`)
    else known[name] = parsed.value
    if (given !== undefined) sources.set(name, source)
  }
  return { known: known as Partial<SettingValues>, sources, problems }
}

function hasAll<Name extends SettingName>(
  values: Partial<SettingValues>,
  names: readonly Name[],
): values is Partial<SettingValues> & Pick<SettingValues, Name> {
  return names.every((name) => name in values)
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
  if (values.store?.family === 'sqlite' && environment.AWS_LAMBDA_FUNCTION_NAME !== undefined) {
    problems.push('The embedded store is refused on Lambda: its disk is lost with the function.')
  }
  return problems
}

function toConfig(
  { values, sources, password }: Found,
  readyJson: boolean,
  environment: Environment,
): ServeConfig {
  return Object.freeze({
    host: values.host,
    port: values.port,
    dtmPort: dtmPortOf(values, sources),
    access: accessConfig(values),
    store: storeConfig(values, password),
    signingKeyFile: values.signingKeyFile,
    logLevel: values.logLevel,
    readyJson,
    engine: toEngineSettings(values),
    targets: targetRules(values),
    caller: callerOptions(values),
    warnings: Object.freeze([
      ...warnings(values, environment),
      ...targetWarnings(values),
      ...storeWarnings(values, sources),
    ]),
  })
}

/** Who takes any port may start several on one machine, and those cannot all have DTM's. */
function dtmPortOf({ port, dtmPort }: SettingValues, sources: Sources): ServeConfig['dtmPort'] {
  return port === 0 && !sources.has('dtmPort') ? 'off' : dtmPort
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
  const variables = new Set(Object.values(SETTINGS).map(({ variable }) => variable))
  for (const variable of [PASSWORD_VARIABLE, PASSWORD_FILE_VARIABLE]) variables.add(variable)
  // No reason to refuse: Kubernetes adds variables of its own for a service called counterstep.
  const unknown = Object.keys(environment)
    .filter((name) => name.startsWith('COUNTERSTEP_') && !variables.has(name))
    .map((name) => `${name} is no setting and was ignored.`)
  return [...unknown, ...accessWarnings(values)]
}
