/** How a world is put together. The wrong ones are there to see that the auditor bites. */
import { RULES, type Rules } from '@counterstep/core'

/** One wrong wiring each, named after the mutant. */
export type Flaw =
  // The store.
  | 'token-reused'
  | 'token-ignored'
  | 'version-reissued'
  | 'version-by-clock'
  | 'says-saved'
  | 'finish-unchecked'
  | 'sent-list-trusted'
  // The node.
  | 'ack-before-durable'
  | 'act-before-accept'
  | 'told-early'
  | 'drop-on-learn'
  | 'lease-by-own-clock'
  | 'no-self-fencing'
  | 'submit-restarts'
  | 'refused-write-repeated'
  | 'refused-though-stored'
  | 'other-content-taken'
  | 'retries-block-claims'
  | 'shows-from-memory'
  | 'learns-given-back'
  | 'never-claims'
  | 'payload-reparsed'
  | 'payload-of-neighbour'
  | 'forgets-to-end'
  // The participants.
  | 'no-null-compensation'
  | 'no-anti-hanging'
  | 'no-idempotency'
  | 'no-rollback-row'
  | 'barrier-row-apart'
  | 'barrier-purged'

export interface Wiring {
  readonly rules: Rules
  readonly flaw: Flaw | undefined
}

export const RIGHT: Wiring = { rules: RULES, flaw: undefined }

export function flawed(flaw: Flaw): Wiring {
  return { rules: RULES, flaw }
}
