import type { TargetRules } from '@counterstep/branch-http/targets'
import type { SqliteConfig, StoreUse } from './store-config.ts'

export interface Protections {
  readonly access: { readonly insecure: readonly string[] }
  readonly targets: Pick<TargetRules, 'others'>
  readonly store: SqliteConfig | StoreUse
}

/** Protections that are switched off by name, as /health/ready shows them. */
export function insecureSwitches({ access, targets, store }: Protections): readonly string[] {
  return [
    ...access.insecure,
    ...(targets.others === 'any' ? ['allow-any-target'] : []),
    ...(isForced(store) ? ['store-accept-class-c'] : []),
  ]
}

/** Whether the store is opened though it may lose what it acknowledged. */
export function isForced(store: Protections['store']): boolean {
  return 'acceptClassC' in store && store.acceptClassC
}
