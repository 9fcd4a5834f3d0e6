/**
 * A mutant for each invariant that breaks it, so that a test sees the check
 * fail. The README's table says where it is checked.
 */
export const PROOFS: Readonly<Record<string, string>> = {
  I1: 'ack-before-durable',
  I2: 'payload-of-neighbour',
  I3: 'finish-unchecked',
  I4: 'refused-write-repeated',
  I5: 'unknown-is-failure',
  I6: 'sent-list-trusted',
  I7: 'no-idempotency',
  I8: 'no-anti-hanging',
  I9: 'no-null-compensation',
  I10: 'recorded-only',
  I11: 'order-ignored',
  I12: 'compensate-forward',
  I13: 'abort-lazily',
  I14: 'token-reused',
  I15: 'barrier-purged',
  I16: 'cancel-after-submit',
  I17: 'other-content-taken',
  I18: 'shows-from-memory',
  I19: 'told-early',
  I20: 'deadline-beats-success',
  I21: 'refused-though-stored',
  I22: 'payload-reparsed',
  L1: 'never-claims',
  L3: 'retries-block-claims',
  L4: 'backoff-none',
  L5: 'forgets-to-end',
  message: 'unknown-check-is-failure',
  strict: 'strict-lazily',
}
