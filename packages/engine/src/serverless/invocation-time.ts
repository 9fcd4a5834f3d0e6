/** The time that is kept for the queue's and the caller's answers at the end. */
const TELL_MS = 1_500
/** The time that is kept for giving back transactions that are not final. */
const GIVE_BACK_MS = 1_500
/** The last calls get at most this part of the time, so that new calls may start during the other half. */
const CALL_SHARE = 0.5
/** A lease ends this long after its invocation has surely ended. */
const LEASE_AFTER_MS = 5_000

/** This is the schedule of an invocation. Its instants are by the clock that `now` was read from. */
export interface InvocationTime {
  /**
   * No call starts after this instant. A call that started before it has at least its
   * usual time, or half of the time for calls if that is less.
   */
  readonly startCallsUntil: number
  /** Every call has ended by this instant. */
  readonly callsUntil: number
  readonly giveBackUntil: number
  /** This is the lease of every transaction of the invocation. */
  readonly leaseMs: number
}

/**
 * Plans the time of an invocation.
 *
 * @param remainingMs is the time until the host kills this invocation.
 * @param callMs is the usual time limit of a branch call.
 */
export function planInvocationTime(now: number, remainingMs: number, callMs: number): InvocationTime {
  const giveBackUntil = now + Math.max(0, remainingMs - TELL_MS)
  const callsUntil = Math.max(now, giveBackUntil - GIVE_BACK_MS)
  return {
    startCallsUntil: findLastStart(now, callsUntil, callMs),
    callsUntil,
    giveBackUntil,
    leaseMs: Math.ceil(remainingMs + LEASE_AFTER_MS),
  }
}

/**
 * Plans the part of an invocation in which transactions run, where calls may hold the function for at most `quickCallMs`.
 * After that the function is free for others, or answers the request that it was invoked for.
 */
export function planQuickTime(
  now: number,
  { callsUntil, giveBackUntil, leaseMs }: InvocationTime,
  callMs: number,
  quickCallMs: number,
): InvocationTime {
  const quickUntil = Math.min(callsUntil, now + quickCallMs)
  return {
    startCallsUntil: findLastStart(now, quickUntil, callMs),
    callsUntil: quickUntil,
    giveBackUntil: Math.min(giveBackUntil, quickUntil + GIVE_BACK_MS),
    // A slow store may delay an accept or a claim, and what it returns is given back as long as the invocation lasts.
    leaseMs,
  }
}

function findLastStart(now: number, callsUntil: number, callMs: number): number {
  return callsUntil - Math.min(callMs, (callsUntil - now) * CALL_SHARE)
}
