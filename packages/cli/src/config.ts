import {
  accessConfig,
  asFlag,
  type Connection,
  callerOptions,
  connection,
  type Environment,
  engineSettings,
  findServerProblems,
  findStoreProblems,
  findUnknownVariables,
  type GivenPassword,
  hasAll,
  isLoopback,
  listServerWarnings,
  PASSWORD_FILE_VARIABLE,
  PASSWORD_VARIABLE,
  readConfigFile,
  readPassword,
  readServiceTls,
  readSettings,
  SETTINGS,
  type SettingName,
  type SettingValues,
  type Sources,
  storeConfig,
  targetRules,
  toVariable,
} from '@counterstep/configuration'
import { assert } from '@counterstep/core'
import type { EngineSettings } from '@counterstep/engine'
import { CONFIG_FLAG, type Line, readLine } from './command-line.ts'
import { COMMANDS, type CommandName, settingsOf } from './commands.ts'
import { type KeysCommand, readKeysCommand } from './keys-command.ts'

/** Names the file of settings where no flag does. */
const CONFIG_VARIABLE = 'COUNTERSTEP_CONFIG'
const VARIABLES = [
  ...settingsOf('serve').map(toVariable),
  PASSWORD_VARIABLE,
  PASSWORD_FILE_VARIABLE,
  CONFIG_VARIABLE,
]

/** Everything `serve` needs to know from outside, checked. */
export type ServeConfig = ReturnType<typeof toConfig>

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
  const given = { flags: line.values, environment, file }
  const { known, sources, problems } = readSettings(SETTINGS, settingsOf(type), given)
  const secret = readPassword(environment)
  const password = 'problem' in secret ? undefined : secret.value
  const isOnLambda = environment.AWS_LAMBDA_FUNCTION_NAME !== undefined
  const all = [
    ...line.problems,
    ...(file?.problems ?? []),
    ...problems,
    ...('problem' in secret ? [secret.problem] : []),
    ...findStoreProblems(known, sources, password, asFlag),
    ...(type === 'serve' ? findServerProblems(known, isOnLambda) : []),
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

function readSettingsFile({ values }: Line, environment: Environment) {
  const flagged = values.get(CONFIG_FLAG)
  const path = flagged ?? (environment[CONFIG_VARIABLE] || undefined)
  const source = flagged === undefined ? CONFIG_VARIABLE : `--${CONFIG_FLAG}`
  return path === undefined ? undefined : readConfigFile(path, source, SETTINGS)
}

interface Found {
  readonly values: SettingValues
  readonly sources: Sources<SettingName>
  readonly password: GivenPassword | undefined
}

function toConfig({ values, sources, password }: Found, readyJson: boolean, environment: Environment) {
  const { host, port, signingKeyFile, logLevel, plainIds } = values
  const engine: EngineSettings = engineSettings(values)
  const unknown = findUnknownVariables(environment, VARIABLES)
  return Object.freeze({
    host,
    port,
    /** The port of DTM's HTTP API. */
    dtmPort: readDtmPort(values, sources),
    access: accessConfig(values),
    store: storeConfig(values, password),
    /** Undefined: branch calls are not signed. */
    signingKeyFile,
    logLevel,
    /** Print one line {"url": …} on stdout when listening, for a harness that starts us. */
    readyJson,
    /** Stop when that npm is gone. */
    isStartedByNpm: environment.npm_lifecycle_event !== undefined,
    engine,
    plainIds,
    /** Where branches may be called. */
    targets: targetRules(values, isLoopback(host)),
    caller: Object.freeze({ ...callerOptions(values), tls: readServiceTls(values) }),
    /** These texts tell of odd settings that are no reason to refuse the start. They belong into the log. */
    warnings: Object.freeze([
      ...unknown.map((name) => `${name} is no setting and was ignored.`),
      ...listServerWarnings(values, sources),
    ]),
  })
}

/** Who takes any port may start several on one machine, and those cannot all have DTM's. */
function readDtmPort({ port, dtmPort }: SettingValues, sources: Sources<SettingName>): number | 'off' {
  return port === 0 && !sources.has('dtmPort') ? 'off' : dtmPort
}
