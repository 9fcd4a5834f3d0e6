import type { Evidence } from '../evidence.ts'
import type { Violation } from './violation.ts'

/** S28. Secrets of clients, of the configuration and of the store's URL stand in no log and no answer. */
export function auditSecrets({ shownSecrets }: Evidence): Violation[] {
  return shownSecrets.map((detail) => ({ invariant: 'S28', subject: 'a secret', detail }))
}
