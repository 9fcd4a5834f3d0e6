import type { Evidence } from '../evidence.ts'
import type { Violation } from './violation.ts'

/** S28. What clients, the configuration and the URL of the store gave in confidence stands in no log and no answer. */
export function auditSecrets({ shownSecrets }: Evidence): Violation[] {
  return shownSecrets.map((detail) => ({ invariant: 'S28', subject: 'a secret', detail }))
}
