import type { FUNCTION_SETTINGS } from './function-settings.ts'
import type { Sources, ValuesOf } from './read-values.ts'
import { asVariable } from './spelling.ts'
import { type StoreReach, type StoreUse, storeReach, storeUse } from './store-config.ts'
import { type GivenPassword, PASSWORD_FILE_VARIABLE } from './store-password.ts'
import { EMBEDDED_ON_LAMBDA, storeProblems, storeWarnings } from './store-problems.ts'
import { type ServerTarget, urlOf } from './store-target.ts'

const SECRET_VARIABLE = 'COUNTERSTEP_STORE_PASSWORD_SECRET'

/** A server's, but for its URL: the password comes later, from where secrets are kept. */
export interface FunctionStoreConfig extends StoreReach, StoreUse {
  /** May hold a password. Never to be shown. */
  readonly target: ServerTarget
}

type FunctionValues = ValuesOf<typeof FUNCTION_SETTINGS>
type Password = GivenPassword | undefined

/** The URL to open it by, with what its secret holds; undefined where no secret is named. Never to be shown. */
export function storeUrl({ target }: FunctionStoreConfig, password: string | undefined): string {
  return urlOf(target, password ?? target.password)
}

export function functionStore(
  named: ServerTarget,
  values: FunctionValues,
  password: Password,
): FunctionStoreConfig {
  const { target, reach } = storeReach(named, values)
  const login = Object.freeze({ ...target, password: password?.text ?? target.password })
  return Object.freeze({ ...reach, ...storeUse(target, values), target: login })
}

export function functionStoreProblems(
  values: Partial<FunctionValues>,
  sources: Sources,
  password: Password,
): readonly string[] {
  const { store, storePasswordSecret } = values
  if (store?.family === 'sqlite') {
    return [`COUNTERSTEP_STORE must be a URL, mysql://… or redis://…. ${EMBEDDED_ON_LAMBDA}`]
  }
  const isSecret = storePasswordSecret !== undefined
  const twice =
    isSecret && password !== undefined
      ? [`${SECRET_VARIABLE} and ${password.variable} are both set; set one.`]
      : []
  const promised = isSecret ? { variable: SECRET_VARIABLE } : password
  return [...twice, ...storeProblems(values, { sources, password: promised, spell: asVariable })]
}

export function functionStoreWarnings(
  values: FunctionValues,
  sources: Sources,
  password: Password,
): readonly string[] {
  const inUrl = values.store.family !== 'sqlite' && values.store.password !== undefined
  const source = inUrl ? sources.get('store') : password?.variable
  const isPlain = source !== undefined && source !== PASSWORD_FILE_VARIABLE
  return [
    ...(isPlain
      ? [
          `The password in ${source} shows to whoever may look at the function; keep it in Secrets Manager, and ` +
            `name that secret by ${SECRET_VARIABLE}.`,
        ]
      : []),
    ...storeWarnings(values, sources),
  ]
}
