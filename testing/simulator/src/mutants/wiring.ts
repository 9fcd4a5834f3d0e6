/** The wiring of a world. The wrong wirings prove that the auditor finds errors. */
import { RULES, type Rules } from '@counterstep/core'

/** The wrong wirings. Each is named after its mutant. */
export type Flaw =
  // These are flaws of the store.
  | 'token-reused'
  | 'token-ignored'
  | 'version-reissued'
  | 'version-by-clock'
  | 'says-saved'
  | 'finish-unchecked'
  | 'trouble-kept'
  | 'sent-list-trusted'
  // These are flaws of the node.
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
  | 'value-reparsed'
  | 'value-of-last-answer'
  | 'url-of-last-answer'
  | 'header-of-last-answer'
  | 'else-in-url'
  | 'template-in-payload'
  | 'forgets-to-end'
  | 'signal-dropped-on-learn'
  | 'timeout-beats-signal'
  | 'trail-dropped-on-learn'
  | 'record-dropped-on-learn'
  | 'second-result-wins'
  | 'abort-while-pivot-unknown'
  // These are flaws of the participants.
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

export function buildFlawed(flaw: Flaw): Wiring {
  return { rules: RULES, flaw }
}
