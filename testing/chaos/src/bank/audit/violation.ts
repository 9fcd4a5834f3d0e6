/** The invariants that a run of real processes is held to, and what each one claims. */
export const INVARIANTS = {
  I1: 'what was acknowledged is stored',
  I2: 'nothing runs that nobody submitted, and as it was submitted',
  I3: 'a final status never changes, others only move on',
  I4: 'success and abort are never both decided',
  I5: 'success: every action took effect once, and no compensation',
  I6: 'failure: every effect is undone',
  I7: 'an op takes effect at most once',
  I8: 'no action takes effect after its compensation',
  I9: 'a compensation takes effect only after its action did',
  I15: 'money is conserved',
  I17: 'a submit may be repeated, with the same content only',
  I18: 'what a client saw never goes back',
  I19: 'an end that a client was told is the end in the store',
  I21: 'what was refused as not accepted is not done',
  I26: 'an op succeeds by an answer or by a skip that the trail has',
  I27: 'a command that was answered as durable stands in the trail, once',
  I28: 'no call starts in a pause',
  I30: 'all calls of one op have the same request',
  I31: 'a value that was sent is one that was answered',
  I32: 'a compensation lacks only what was unknown',
  I33: 'no wait ends early, or by two ends',
  I34: 'a signal counts once, and what was acknowledged stays',
  I35: 'no way back after the point of no return',
  I37: 'what code plans is saved before it is called',
  I38: 'a journal only grows, and a slot has one step',
  I39: 'a step is built on what stays',
  I40: 'every step of a workflow has its outcome',
  I41: 'no step is called that was planned after the turn',
  S28: 'no secret is shown in a log or an answer',
  L1: 'everything ends when the faults have healed',
} as const

export type InvariantName = keyof typeof INVARIANTS

export interface Violation {
  readonly invariant: InvariantName
  /** A gid, an account, or a secret. */
  readonly subject: string
  readonly detail: string
}
