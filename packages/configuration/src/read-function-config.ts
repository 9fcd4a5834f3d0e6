import type { TargetRules } from '@counterstep/branch-http/targets'
import { assert } from '@counterstep/core'
import type { EngineSettings } from '@counterstep/engine'
import { bulkheadSettings, engineProblems, engineWarnings, retryPolicy } from './engine-config.ts'
import {
  type FunctionAccess,
  functionAccess,
  functionAccessProblems,
  functionAccessWarnings,
} from './function-access.ts'
import { FUNCTION_SETTINGS } from './function-settings.ts'
import {
  type FunctionStoreConfig,
  functionStore,
  functionStoreProblems,
  functionStoreWarnings,
} from './function-store.ts'
import { type Environment, hasAll, readValues, unknownVariables, type ValuesOf } from './read-values.ts'
import { asVariable } from './spelling.ts'
import {
  type GivenPassword,
  PASSWORD_FILE_VARIABLE,
  PASSWORD_VARIABLE,
  readPassword,
} from './store-password.ts'
import {
  type CallerConfig,
  callerOptions,
  targetProblems,
  targetRules,
  targetWarnings,
} from './target-config.ts'

/** Only the api is called over HTTP; only a sweeper with a queue calls no branch. */
export type FunctionRole = 'api' | 'worker' | 'sweeper'

/** Everything a function needs to know from outside, checked; but what its secrets hold. */
export interface FunctionConfig {
  readonly store: FunctionStoreConfig
  /** Where branches may be called. */
  readonly targets: TargetRules
  readonly caller: CallerConfig
  readonly engine: FunctionEngineSettings
  readonly access: FunctionAccess
  readonly secrets: FunctionSecrets
  readonly logLevel: FunctionValues['logLevel']
  /** Undefined: there is no queue. */
  readonly queueUrl: string | undefined
  readonly metricsNamespace: string
  /** What is odd but no reason to refuse; belongs into the log. */
  readonly warnings: readonly string[]
}

/** ARNs of secrets in AWS Secrets Manager; undefined: there is none. */
export interface FunctionSecrets {
  readonly storePassword: string | undefined
  /** Of the file of keys. Where there is one, and only there, requests need a key. */
  readonly keys: string | undefined
  /** Of the file of a signing key; undefined: branch calls are not signed. */
  readonly signingKey: string | undefined
}

/** The rest of an engine's settings is about what a process does between requests, and a function does nothing there. */
export type FunctionEngineSettings = Pick<
  EngineSettings,
  | 'inFlightMax'
  | 'callsInFlightMax'
  | 'targetShare'
  | 'targetCallsPerSecond'
  | 'timeoutMsMax'
  | 'retryFloorMs'
  | 'parkAfterMs'
  | 'holdMs'
  | 'checkpointMs'
  | 'retentionMs'
  | 'branchTimeoutMs'
  | 'retry'
  | 'storeTimeoutMs'
>

export type ReadFunctionConfig =
  | { readonly config: FunctionConfig }
  /** Every problem at once, each a sentence that names its variable. */
  | { readonly problems: readonly string[] }

type FunctionValues = ValuesOf<typeof FUNCTION_SETTINGS>
type FunctionName = keyof typeof FUNCTION_SETTINGS

const NAMES = Object.keys(FUNCTION_SETTINGS) as FunctionName[]
const VARIABLES: ReadonlySet<string> = new Set([
  ...Object.values(FUNCTION_SETTINGS).map(({ variable }) => variable),
  PASSWORD_VARIABLE,
  PASSWORD_FILE_VARIABLE,
])
/** Of a server. Ignored here, they would leave open or unsigned what was to be closed or signed. */
const FILES: Readonly<Record<string, string>> = {
  COUNTERSTEP_KEYS_FILE: 'COUNTERSTEP_KEYS_SECRET',
  COUNTERSTEP_SIGNING_KEY_FILE: 'COUNTERSTEP_SIGNING_KEY_SECRET',
}

const CALLS_WHAT_IT_IS_TOLD = 'Whoever may submit names the URLs that a function calls'

/** The only place that reads a function's environment. */
export function readFunctionConfig(
  role: FunctionRole,
  environment: Environment = process.env,
): ReadFunctionConfig {
  const { known, sources, problems } = readValues(FUNCTION_SETTINGS, NAMES, { flags: new Map(), environment })
  const secret = readPassword(environment)
  const password = 'problem' in secret ? undefined : secret.value
  const all = [
    ...problems,
    ...('problem' in secret ? [secret.problem] : []),
    ...functionStoreProblems(known, sources, password),
    ...(role === 'api' ? functionAccessProblems(known) : []),
    ...engineProblems(known, asVariable),
    ...(callsBranches(role, known) ? targetProblems(known, CALLS_WHAT_IT_IS_TOLD, asVariable) : []),
    ...fileProblems(environment),
  ]
  if (all.length > 0) return { problems: all }
  assert(hasAll(known, NAMES), 'a setting is neither known nor refused')
  const unknown = unknownVariables(environment, VARIABLES).map(
    (name) => `${name} is no setting of a function and was ignored.`,
  )
  const warnings = [
    ...unknown,
    ...(role === 'api' ? functionAccessWarnings(known) : []),
    ...engineWarnings(known, asVariable),
    ...targetWarnings(known, asVariable),
    ...functionStoreWarnings(known, sources, password),
  ]
  return { config: Object.freeze({ ...toConfig(known, password), warnings: Object.freeze(warnings) }) }
}

function callsBranches(role: FunctionRole, { queueUrl }: Partial<FunctionValues>): boolean {
  return role !== 'sweeper' || queueUrl === undefined
}

function fileProblems(environment: Environment): string[] {
  return Object.entries(FILES)
    .filter(([file]) => (environment[file] ?? '') !== '')
    .map(([file, secret]) => `${file} is a server's, and a function keeps no file: set ${secret}.`)
}

function toConfig(
  values: FunctionValues,
  password: GivenPassword | undefined,
): Omit<FunctionConfig, 'warnings'> {
  const { store, logLevel, queueUrl, metricsNamespace } = values
  assert(store.family !== 'sqlite', 'the embedded store was not refused')
  return {
    store: functionStore(store, values, password),
    targets: targetRules(values, false),
    caller: callerOptions(values),
    engine: toEngineSettings(values),
    access: functionAccess(values),
    secrets: Object.freeze({
      storePassword: values.storePasswordSecret,
      keys: values.keysSecret,
      signingKey: values.signingKeySecret,
    }),
    logLevel,
    queueUrl,
    metricsNamespace,
  }
}

function toEngineSettings(values: FunctionValues): FunctionEngineSettings {
  return Object.freeze({
    inFlightMax: values.inFlightMax,
    callsInFlightMax: values.callsInFlightMax,
    ...bulkheadSettings(values),
    holdMs: values.holdMs,
    checkpointMs: values.checkpointMs,
    retentionMs: values.retentionMs,
    branchTimeoutMs: values.branchTimeoutMs,
    retry: retryPolicy(values),
    storeTimeoutMs: values.storeTimeoutMs,
  })
}
