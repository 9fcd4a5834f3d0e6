import type { BranchCall } from '@counterstep/core'
import type { AttemptHost, OriginAttempt } from './origin.ts'

function runHere(run: () => void): void {
  run()
}

/**
 * Holds the places that an attempt has in the wheel and in the queue of its origin, whichever way it makes its call. They are
 * fields of the attempt itself, because a node makes so many calls.
 */
export abstract class PlacedAttempt<A extends OriginAttempt<A>> {
  deadlineAt = 0
  wheelSlot = -1
  wheelPlace = 0
  queuePrevious: A | undefined = undefined
  queueNext: A | undefined = undefined
  isQueued = false
  isSettled = false
  /** Runs a function in the async context of the call. It is set if the attempt has to wait. */
  runInContext = runHere
  protected host: AttemptHost<A> | undefined = undefined
  protected readonly call: BranchCall

  constructor(call: BranchCall) {
    this.call = call
  }

  /** Call it before anything can end the attempt. */
  setHost(host: AttemptHost<A>): void {
    this.host = host
  }

  /**
   * Tells whether the call may be sent now that it has its place or its connection. It may have waited past its lease, or
   * past a decision, and is answered as not sent then.
   */
  mayBegin(): boolean {
    if (this.isSettled) return false
    if (this.call.mayBegin?.() !== false) return true
    this.withdraw()
    return false
  }

  /** Ends the attempt as one that was not sent. */
  protected abstract withdraw(): void
}
