/** The invariants that a run with DTM's API is held to, and what each one claims. */
export const DTM_INVARIANTS = {
  I1: 'what was acknowledged is stored',
  I2: 'nothing succeeds that no client submitted',
  I3: 'a final status never changes',
  I5: 'success: every branch took effect, and none is left prepared',
  I6: 'failure: no effect stays, and no branch is left prepared',
  I7: 'an op takes effect at most once',
  I15: 'money is conserved',
  I19: 'an end that a client was told is the end in the store',
  I42: 'a recorded workflow ends once, as its client says, and its reports stay',
  L1: 'everything ends when the faults have healed',
} as const

export interface DtmViolation {
  readonly invariant: keyof typeof DTM_INVARIANTS
  /** A gid, a branch of XA or an account. */
  readonly subject: string
  readonly detail: string
}
