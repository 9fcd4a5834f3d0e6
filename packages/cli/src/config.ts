import {
  addAlertServices,
  asFlag,
  type Connection,
  chooseTargetRules,
  connection,
  type Environment,
  findServerProblems,
  findStoreProblems,
  findUnknownVariables,
  type GivenPassword,
  hasAll,
  hasConsole,
  isLoopback,
  listServerWarnings,
  PASSWORD_FILE_VARIABLE,
  PASSWORD_VARIABLE,
  pickAccessConfig,
  pickCallerOptions,
  pickEngineSettings,
  readConfigFile,
  readPassword,
  readServiceTls,
  readSettings,
  SETTINGS,
  type SettingName,
  type SettingValues,
  type Sources,
  storeConfig,
  toSettingsTable,
  toVariable,
} from '@counterstep/configuration'
import { assert } from '@counterstep/core'
import type { EngineSettings } from '@counterstep/engine'
import { type AlertsRequest, readAlertsCommand } from './alerts-command.ts'
import { CONFIG_FLAG, type Line, readLine } from './command-line.ts'
import { COMMANDS, type CommandName, listSettings } from './commands.ts'
import { addDevValues } from './dev-values.ts'
import { type KeysCommand, readKeysCommand } from './keys-command.ts'
import { OPERATOR_WORDS } from './operator/line/operator-commands.ts'
import { type OperatorLine, readOperatorLine } from './operator/line/operator-line.ts'
import { CLIENT_VARIABLES } from './server-access.ts'
import { readSignalCommand, type SignalRequest } from './signal-command.ts'
import { readTelemetry } from './telemetry-config.ts'

/** This variable names the file of settings if no flag does. */
const CONFIG_VARIABLE = 'COUNTERSTEP_CONFIG'
const VARIABLES = [
  ...listSettings('serve').map(toVariable),
  PASSWORD_VARIABLE,
  PASSWORD_FILE_VARIABLE,
  CONFIG_VARIABLE,
  ...CLIENT_VARIABLES,
]

/** This is everything that `serve` needs from outside, and it is checked. */
export type ServeConfig = ReturnType<typeof toConfig>

/** A SQLite store needs no connection here, since a server migrates it when it opens it. */
export type MigrateConfig = Connection | { readonly type: 'sqlite' }

/** It reads its arguments itself, since no server needs it. */
export interface DtmCheckLine {
  readonly type: 'dtm-check'
  readonly args: readonly string[]
  readonly environment: Environment
}

export type Command =
  | { readonly type: 'serve'; readonly config: ServeConfig }
  /** If it keeps no data, its store has to be in a folder that goes at the end. */
  | { readonly type: 'dev'; readonly config: ServeConfig; readonly keepsData: boolean }
  | { readonly type: 'migrate'; readonly config: MigrateConfig }
  | { readonly type: 'keys'; readonly command: KeysCommand }
  | { readonly type: 'signal'; readonly command: SignalRequest }
  | { readonly type: 'alerts'; readonly command: AlertsRequest }
  | DtmCheckLine
  | { readonly type: 'operator'; readonly line: OperatorLine }
  /** The words say of which commands. */
  | { readonly type: 'operator-help'; readonly words: readonly string[] }
  | { readonly type: 'help'; readonly command: CommandName }
  | { readonly type: 'version' }
  /** It has all problems at once. Each is a sentence that names its flag or variable. */
  | { readonly type: 'refused'; readonly problems: readonly string[] }

/** Reads the arguments and the environment, which nothing else does. A flag wins over its variable. */
export function readCommand(args: readonly string[], environment: Environment = process.env): Command {
  if (args[0] === 'keys') {
    const keys = readKeysCommand(args.slice(1), environment)
    return 'problems' in keys ? { type: 'refused', ...keys } : { type: 'keys', ...keys }
  }
  if (args[0] === 'dtm-check') return { type: 'dtm-check', args: args.slice(1), environment }
  if (args[0] === 'alerts') {
    const alerts = readAlertsCommand(args.slice(1), environment)
    return 'problems' in alerts ? { type: 'refused', ...alerts } : { type: 'alerts', ...alerts }
  }
  if (args[0] === 'signal') {
    const signal = readSignalCommand(args.slice(1), environment)
    return 'problems' in signal ? { type: 'refused', ...signal } : { type: 'signal', ...signal }
  }
  if (OPERATOR_WORDS.includes(args[0] ?? '')) return readOperatorCommand(args, environment)
  const line = readLine(args)
  const type = line.command ?? 'serve'
  if (line.switches.has('help')) return { type: 'help', command: type }
  if (line.switches.has('version')) return { type: 'version' }
  const file = readSettingsFile(line, environment)
  const given = { flags: line.values, environment, file }
  const { known, sources, texts, problems } = readSettings(SETTINGS, listSettings(type), given)
  const secret = readPassword(environment)
  const password = 'problem' in secret ? undefined : secret.value
  const isOnLambda = environment.AWS_LAMBDA_FUNCTION_NAME !== undefined
  const all = [
    ...line.problems,
    ...(file?.problems ?? []),
    ...problems,
    ...('problem' in secret ? [secret.problem] : []),
    ...findStoreProblems(known, sources, password, asFlag),
    ...(type === 'migrate' ? [] : findServerProblems(known, isOnLambda)),
  ]
  if (all.length > 0) return { type: 'refused', problems: all }
  if (type === 'migrate' && hasAll(known, COMMANDS.migrate)) {
    const { store } = known
    return {
      type,
      config: store.family === 'sqlite' ? { type: 'sqlite' } : connection(store, known, password),
    }
  }
  const values = type === 'dev' ? addDevValues(known, sources) : known
  assert(hasAll(values, COMMANDS.serve), 'a setting is neither known nor refused')
  const found = { values, sources, texts, password, hasDtm: type === 'serve' }
  const config = toConfig(found, line.switches.has('ready-json'), environment)
  if (type === 'dev') return { type, config, keepsData: sources.has('data') || sources.has('store') }
  return { type: 'serve', config }
}

function readOperatorCommand(args: readonly string[], environment: Environment): Command {
  const read = readOperatorLine(args, environment)
  if ('problems' in read) return { type: 'refused', problems: read.problems }
  return 'help' in read ? { type: 'operator-help', words: read.help } : { type: 'operator', line: read.line }
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
  readonly texts: ReadonlyMap<SettingName, string>
  readonly password: GivenPassword | undefined
  /** DTM's API is on unless something else is said. */
  readonly hasDtm: boolean
}

function toConfig(
  { values, sources, texts, password, hasDtm }: Found,
  readyJson: boolean,
  environment: Environment,
) {
  const { host, port, signingKeyFile, alertsFile: alerts, logLevel, plainIds } = values
  const engine: EngineSettings = pickEngineSettings(values)
  const unknown = findUnknownVariables(environment, VARIABLES)
  const store = storeConfig(values, password)
  const telemetry = readTelemetry(values.otlp, environment)
  const dtmPortInForce = readDtmPort(values, hasDtm || sources.has('dtmPort'), sources)
  const acceptNewKinds = String(engine.acceptNewKinds)
  const outcomes = { store: store.place, dtmPort: String(dtmPortInForce), logLevel, acceptNewKinds }
  return Object.freeze({
    host,
    port,
    /** DTM's HTTP API listens on this port. */
    dtmPort: dtmPortInForce,
    /** DTM's gRPC API, if it is on. */
    dtmGrpc: pickGrpcConfig(values),
    access: pickAccessConfig(values),
    /** The operators' page is under /console/. */
    hasConsole: hasConsole(values),
    /** The bounds of the streams of changes. */
    live: Object.freeze({ streamsMax: values.liveMax }),
    store,
    /** All settings, for people, without any secret. */
    settingsTable: toSettingsTable({ texts, sources, outcomes }),
    /** So many processes share the port. */
    processes: values.processes,
    /** If it is undefined, no traces are sent. */
    telemetry,
    /** If it is undefined, branch calls are not signed. */
    signingKeyFile,
    logLevel,
    /** If it is true, the line {"url": …} is printed on stdout once the server listens, for a program that starts it. */
    readyJson,
    /** If it is true, the server stops when the npm that has started it is gone. */
    isStartedByNpm: environment.npm_lifecycle_event !== undefined,
    engine,
    plainIds,
    /** These rules say where branches may be called. */
    targets: addAlertServices(chooseTargetRules(values, isLoopback(host)), alerts),
    /** If it is undefined, nothing is told to anyone. */
    alerts,
    caller: Object.freeze({ ...pickCallerOptions(values), tls: readServiceTls(values) }),
    /** These texts are for the log. They name odd settings that are no reason to refuse the start. */
    warnings: Object.freeze([
      ...unknown.map((name) => `${name} is no setting and was ignored.`),
      ...listServerWarnings(values, sources),
      ...(telemetry?.warnings ?? []),
    ]),
  })
}

/** Its files hold no secret that is shown: the table of settings has their paths. */
function pickGrpcConfig({ dtmGrpcPort: port, dtmGrpcCert: cert, dtmGrpcKey: key }: SettingValues) {
  if (port === 'off') return undefined
  return Object.freeze({ port, ...(cert === undefined || key === undefined ? {} : { tls: { cert, key } }) })
}

/**
 * Switches DTM's API off for `--port 0` unless its port is given. With that port several servers may run on one machine,
 * and only one of them could have DTM's fixed port.
 */
function readDtmPort(
  { port, dtmPort }: SettingValues,
  isOn: boolean,
  sources: Sources<SettingName>,
): number | 'off' {
  return !isOn || (port === 0 && !sources.has('dtmPort')) ? 'off' : dtmPort
}
