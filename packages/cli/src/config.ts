import type { TargetRules } from '@counterstep/branch-http/targets'
import {
  type AccessConfig,
  accessConfig,
  accessProblems,
  accessWarnings,
  asFlag,
  type CallerConfig,
  type ConfigFile,
  type Connection,
  callerOptions,
  connection,
  EMBEDDED_ON_LAMBDA,
  type Environment,
  engineProblems,
  engineSettings,
  engineWarnings,
  type GivenPassword,
  hasAll,
  isLoopback,
  PASSWORD_FILE_VARIABLE,
  PASSWORD_VARIABLE,
  readConfigFile,
  readPassword,
  readValues,
  SETTINGS,
  type SettingName,
  type SettingValues,
  type Sources,
  type StoreConfig,
  serviceTls,
  serviceTlsProblems,
  storeConfig,
  storeProblems,
  storeWarnings,
  targetProblems,
  targetRules,
  targetWarnings,
  unknownVariables,
} from '@counterstep/configuration'
import { assert } from '@counterstep/core'
import type { EngineSettings } from '@counterstep/engine'
import { CONFIG_FLAG, type Line, readLine } from './command-line.ts'
import { COMMANDS, type CommandName, settingsOf } from './commands.ts'
import { type KeysCommand, readKeysCommand } from './keys-command.ts'

/** Names the file of settings where no flag does. */
const CONFIG_VARIABLE = 'COUNTERSTEP_CONFIG'

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
  /** Stop when that npm is gone. */
  readonly isStartedByNpm: boolean
  readonly engine: EngineSettings
  /** Refuse ids that DTM's own barriers in services could take for others. */
  readonly plainIds: boolean
  /** Where branches may be called. */
  readonly targets: TargetRules
  readonly caller: CallerConfig
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
  const file = readSettingsFile(line, environment)
  const given = { flags: line.values, environment, file: file.values }
  const { known, sources, problems } = readValues(SETTINGS, settingsOf(type), given)
  const secret = readPassword(environment)
  const password = 'problem' in secret ? undefined : secret.value
  const all = [
    ...line.problems,
    ...file.problems,
    ...problems,
    ...('problem' in secret ? [secret.problem] : []),
    ...storeProblems(known, { sources, password, spell: asFlag }),
    ...(type === 'serve' ? serveProblems(known, environment) : []),
  ]
  if (all.length > 0) return { type: 'refused', problems: all }
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

const NO_FILE: ConfigFile = { values: new Map(), problems: [] }

function readSettingsFile({ values }: Line, environment: Environment): ConfigFile {
  const path = values.get(CONFIG_FLAG) ?? (environment[CONFIG_VARIABLE] || undefined)
  return path === undefined ? NO_FILE : readConfigFile(path, SETTINGS)
}

interface Found {
  readonly values: SettingValues
  readonly sources: Sources<SettingName>
  readonly password: GivenPassword | undefined
}

function serveProblems(values: Partial<SettingValues>, environment: Environment): string[] {
  const { host, store } = values
  const isOnLambda = environment.AWS_LAMBDA_FUNCTION_NAME !== undefined
  return [
    ...accessProblems(values),
    ...engineProblems(values, asFlag),
    ...serviceTlsProblems(values, asFlag),
    ...(store?.family === 'sqlite' && isOnLambda ? [EMBEDDED_ON_LAMBDA] : []),
    ...(host === undefined || isLoopback(host)
      ? []
      : targetProblems(values, '--host is no loopback address', asFlag)),
  ]
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
    isStartedByNpm: environment.npm_lifecycle_event !== undefined,
    engine: engineSettings(values),
    plainIds: values.plainIds,
    targets: targetRules(values, isLoopback(values.host)),
    caller: Object.freeze({ ...callerOptions(values), tls: serviceTls(values) }),
    warnings: Object.freeze([
      ...warnings(values, environment),
      ...engineWarnings(values, asFlag),
      ...targetWarnings(values, asFlag),
      ...storeWarnings(values, sources),
    ]),
  })
}

/** Who takes any port may start several on one machine, and those cannot all have DTM's. */
function dtmPortOf({ port, dtmPort }: SettingValues, sources: Sources<SettingName>): ServeConfig['dtmPort'] {
  return port === 0 && !sources.has('dtmPort') ? 'off' : dtmPort
}

function warnings(values: SettingValues, environment: Environment): string[] {
  const variables = new Set(Object.values(SETTINGS).map(({ variable }) => variable))
  for (const variable of [PASSWORD_VARIABLE, PASSWORD_FILE_VARIABLE, CONFIG_VARIABLE]) variables.add(variable)
  const unknown = unknownVariables(environment, variables)
  return [...unknown.map((name) => `${name} is no setting and was ignored.`), ...accessWarnings(values)]
}
