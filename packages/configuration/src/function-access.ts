import type { FUNCTION_SETTINGS } from './function-settings.ts'
import type { ValuesOf } from './read-values.ts'

export interface FunctionAccess {
  /** Who checks callers in front of the function; undefined: nobody does. */
  readonly authorizer: 'iam' | 'jwt' | undefined
  /** Requests per second; undefined: as many as come. */
  readonly ratePerKey: number | undefined
  /** Empty: whatever Host is taken. */
  readonly allowedHosts: readonly string[]
  /** Protections that are switched off by name, for /health/ready. */
  readonly insecure: readonly string[]
}

type AccessValues = Pick<
  ValuesOf<typeof FUNCTION_SETTINGS>,
  'keysSecret' | 'authorizer' | 'insecureNoKeys' | 'ratePerKey' | 'allowedHosts'
>

export function functionAccess(values: AccessValues): FunctionAccess {
  const { authorizer, ratePerKey, allowedHosts = [] } = values
  return Object.freeze({
    authorizer,
    ratePerKey: ratePerKey === 'off' ? undefined : ratePerKey,
    allowedHosts,
    insecure: Object.freeze(isOpenToAll(values) ? ['no-keys'] : []),
  })
}

/** A function is reached by whoever knows its URL, unless somebody stands before it. */
export function functionAccessProblems(values: Partial<AccessValues>): string[] {
  const { keysSecret, authorizer, insecureNoKeys, ratePerKey } = values
  // One that is set, but wrong, is a problem already.
  if (!('keysSecret' in values) || !('authorizer' in values)) return []
  const problems: string[] = []
  const isGuarded = keysSecret !== undefined || authorizer !== undefined
  if (!isGuarded && insecureNoKeys === false) {
    problems.push(
      'A function is reached by others, and there are no keys: keep the file of counterstep keys create in Secrets ' +
        'Manager and name that secret by COUNTERSTEP_KEYS_SECRET; or say who checks callers before it, by ' +
        'COUNTERSTEP_AUTHORIZER=iam or jwt; or say COUNTERSTEP_INSECURE_NO_KEYS=true, if nobody else can get there.',
    )
  }
  if (keysSecret !== undefined && insecureNoKeys === true) {
    problems.push('COUNTERSTEP_INSECURE_NO_KEYS contradicts COUNTERSTEP_KEYS_SECRET.')
  }
  if (authorizer !== undefined && insecureNoKeys === true) {
    problems.push('COUNTERSTEP_INSECURE_NO_KEYS contradicts COUNTERSTEP_AUTHORIZER.')
  }
  // In vain it would be a misunderstanding: who sets it believes to have keys.
  if (keysSecret === undefined && typeof ratePerKey === 'number') {
    problems.push('COUNTERSTEP_RATE_PER_KEY is of use only with COUNTERSTEP_KEYS_SECRET.')
  }
  return problems
}

export function functionAccessWarnings(values: AccessValues): string[] {
  const { keysSecret, authorizer } = values
  if (isOpenToAll(values)) {
    return [
      'COUNTERSTEP_INSECURE_NO_KEYS: anyone who reaches the function may submit, read, abort and stop transactions.',
    ]
  }
  if (keysSecret !== undefined && authorizer !== undefined) {
    return [
      `COUNTERSTEP_AUTHORIZER=${authorizer} beside COUNTERSTEP_KEYS_SECRET: a key stands in the Authorization ` +
        'header, so the authorizer must look for its own proof elsewhere.',
    ]
  }
  return []
}

function isOpenToAll({ keysSecret, authorizer }: AccessValues): boolean {
  return keysSecret === undefined && authorizer === undefined
}
