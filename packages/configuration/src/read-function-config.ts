import { assert } from '@counterstep/core'
import { callerOptions, engineSettings, functionAccess, targetRules } from './host-config.ts'
import { type Environment, hasAll, readSettings, unknownVariables } from './read-settings.ts'
import { type FunctionRole, functionProblems } from './rules.ts'
import { toVariable } from './setting.ts'
import { FUNCTION_SETTINGS, type FunctionName, type FunctionValues } from './settings.ts'
import { functionStore } from './store-config.ts'
import {
  type GivenPassword,
  PASSWORD_FILE_VARIABLE,
  PASSWORD_VARIABLE,
  readPassword,
} from './store-password.ts'
import { functionWarnings } from './warnings.ts'

/** Everything a function needs to know from outside, checked; but what its secrets hold. */
export interface FunctionConfig extends ReturnType<typeof toConfig> {
  /** What is odd but no reason to refuse; belongs into the log. */
  readonly warnings: readonly string[]
}

type ReadFunctionConfig =
  | { readonly config: FunctionConfig }
  /** Every problem at once, each a sentence that names its variable. */
  | { readonly problems: readonly string[] }

const NAMES = Object.keys(FUNCTION_SETTINGS) as FunctionName[]
const VARIABLES = [...NAMES.map(toVariable), PASSWORD_VARIABLE, PASSWORD_FILE_VARIABLE]

/** The only place that reads a function's environment. */
export function readFunctionConfig(
  role: FunctionRole,
  environment: Environment = process.env,
): ReadFunctionConfig {
  const { known, sources, problems } = readSettings(FUNCTION_SETTINGS, NAMES, { environment })
  const secret = readPassword(environment)
  const password = 'problem' in secret ? undefined : secret.value
  const all = [
    ...problems,
    ...('problem' in secret ? [secret.problem] : []),
    ...functionProblems(role, known, { sources, password, environment }),
  ]
  if (all.length > 0) return { problems: all }
  assert(hasAll(known, NAMES), 'a setting is neither known nor refused')
  const warnings = [
    ...unknownVariables(environment, VARIABLES).map(
      (name) => `${name} is no setting of a function and was ignored.`,
    ),
    ...functionWarnings(role, known, sources, password),
  ]
  return { config: Object.freeze({ ...toConfig(known, password), warnings: Object.freeze(warnings) }) }
}

function toConfig(values: FunctionValues, password: GivenPassword | undefined) {
  const { store, logLevel, queueUrl, metricsNamespace } = values
  assert(store.family !== 'sqlite', 'the embedded store was not refused')
  return {
    store: functionStore(store, values, password),
    targets: targetRules(values, false),
    caller: callerOptions(values),
    engine: engineSettings(values),
    access: functionAccess(values),
    /** ARNs of secrets in AWS Secrets Manager; undefined: there is none, and calls need no key or are not signed. */
    secrets: Object.freeze({
      storePassword: values.storePasswordSecret,
      keys: values.keysSecret,
      signingKey: values.signingKeySecret,
    }),
    logLevel,
    /** Undefined: there is no queue. */
    queueUrl,
    metricsNamespace,
  }
}
