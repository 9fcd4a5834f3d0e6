/** For telling the queue and the caller at the end. */
const TELL_MS = 1_500
/** For giving back to the store what is not final. */
const GIVE_BACK_MS = 1_500
/** At least the half of the time is for work, however long a call may take. */
const CALL_SHARE = 0.5
/** An owner that dies is missed when it would have ended for sure. */
const LEASE_AFTER_MS = 5_000

/** What an invocation does until when; instants of the clock that `now` was read from. */
export interface InvocationTime {
  /** From here on no call starts; one that has started before has at least its usual time. */
  readonly startCallsUntil: number
  /** Every call has ended. */
  readonly callsUntil: number
  readonly giveBackUntil: number
  /** After it nobody runs what this invocation held. */
  readonly leaseMs: number
}

/** @param remainingMs until the host kills this invocation. @param callMs how long a branch call usually may take. */
export function invocationTime(now: number, remainingMs: number, callMs: number): InvocationTime {
  const giveBackUntil = now + Math.max(0, remainingMs - TELL_MS)
  const callsUntil = Math.max(now, giveBackUntil - GIVE_BACK_MS)
  const callRoomMs = Math.min(callMs, (callsUntil - now) * CALL_SHARE)
  return {
    startCallsUntil: callsUntil - callRoomMs,
    callsUntil,
    giveBackUntil,
    leaseMs: Math.ceil(remainingMs + LEASE_AFTER_MS),
  }
}
