import { assert } from '@counterstep/core'
import {
  chooseTargetRules,
  pickCallerOptions,
  pickEngineSettings,
  pickFunctionAccess,
} from './host-config.ts'
import { type Environment, findUnknownVariables, hasAll, readSettings } from './read-settings.ts'
import { type FunctionRole, findFunctionProblems } from './rules.ts'
import { toVariable } from './setting.ts'
import { FUNCTION_SETTINGS, type FunctionName, type FunctionValues } from './settings.ts'
import { toFunctionStore } from './store-config.ts'
import {
  type GivenPassword,
  PASSWORD_FILE_VARIABLE,
  PASSWORD_VARIABLE,
  readPassword,
} from './store-password.ts'
import { listFunctionWarnings } from './warnings.ts'

/** Holds everything that a function needs from its environment, checked. It does not hold the contents of its secrets. */
export interface FunctionConfig extends ReturnType<typeof toConfig> {
  /** It is the memory that the function has, if that is known. */
  readonly memoryMb: number | undefined
  /** Each warning names something that is odd but no reason to refuse. The host writes them into its log. */
  readonly warnings: readonly string[]
}

type ReadFunctionConfig =
  | { readonly config: FunctionConfig }
  /** Lists every problem at once. Each is a sentence that names its variable. */
  | { readonly problems: readonly string[] }

const NAMES = Object.keys(FUNCTION_SETTINGS) as FunctionName[]
const VARIABLES = [...NAMES.map(toVariable), PASSWORD_VARIABLE, PASSWORD_FILE_VARIABLE]

/** Reads a function's environment. No other function does. A bundle with branches of its own needs no other target. */
export function readFunctionConfig(
  role: FunctionRole,
  environment: Environment = process.env,
  { hasOwnBranches = false }: { readonly hasOwnBranches?: boolean } = {},
): ReadFunctionConfig {
  const { known, sources, problems } = readSettings(FUNCTION_SETTINGS, NAMES, { environment })
  const secret = readPassword(environment)
  const password = 'problem' in secret ? undefined : secret.value
  const all = [
    ...problems,
    ...('problem' in secret ? [secret.problem] : []),
    ...findFunctionProblems(role, known, { sources, password, environment, hasOwnBranches }),
  ]
  if (all.length > 0) return { problems: all }
  assert(hasAll(known, NAMES), 'a setting is neither known nor refused')
  const warnings = [
    ...findUnknownVariables(environment, VARIABLES).map(
      (name) => `${name} is no setting of a function and was ignored.`,
    ),
    ...listFunctionWarnings(role, known, sources, password),
  ]
  const memoryMb = readMemoryMb(environment)
  return {
    config: Object.freeze({ ...toConfig(known, password), memoryMb, warnings: Object.freeze(warnings) }),
  }
}

/** Reads what Lambda says about the function itself. Elsewhere it is undefined. */
function readMemoryMb({ AWS_LAMBDA_FUNCTION_MEMORY_SIZE: text = '' }: Environment): number | undefined {
  return /^[1-9]\d{0,6}$/.test(text) ? Number(text) : undefined
}

function toConfig(values: FunctionValues, password: GivenPassword | undefined) {
  const { store, logLevel, queueUrl, slowQueueUrl, quickCallMs, metricsNamespace } = values
  assert(store.family !== 'sqlite', 'the embedded store was not refused')
  return {
    store: toFunctionStore(store, values, password),
    targets: chooseTargetRules(values, false),
    caller: pickCallerOptions(values),
    engine: pickEngineSettings(values),
    access: pickFunctionAccess(values),
    /**
     * These are ARNs of secrets in AWS Secrets Manager. Without the one for keys requests need no key, and without
     * the one for signing no call is signed.
     */
    secrets: Object.freeze({
      storePassword: values.storePasswordSecret,
      keys: values.keysSecret,
      signingKey: values.signingKeySecret,
    }),
    logLevel,
    /** It is undefined if there is no queue. */
    queueUrl,
    /** It is undefined if slow calls have no queue of their own. */
    slowQueueUrl,
    /** It is undefined if every call may take its own time here. */
    quickCallMs,
    metricsNamespace,
  }
}
