/** The kinds of events, as numbers for the trace's hash. */
export const EVENT = {
  storeArrival: 1,
  storeAnswer: 2,
  storeTimeout: 3,
  callArrival: 4,
  callCommit: 5,
  callAnswer: 6,
  callTimeout: 7,
  tick: 8,
  poll: 9,
  renew: 10,
  client: 11,
  clientArrival: 12,
  clientAnswer: 13,
  nemesis: 14,
  resend: 15,
  heldBack: 16,
} as const
