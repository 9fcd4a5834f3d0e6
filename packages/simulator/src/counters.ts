/** What happened in a run: a run in which nothing bad happened has proved nothing. */
export interface Counters {
  sagas: number
  succeeded: number
  failed: number
  stopped: number
  crashes: number
  crashesInFlight: number
  pauses: number
  takeovers: number
  leasesLost: number
  parked: number
  releases: number
  fencedWrites: number
  conflicts: number
  ambiguousWrites: number
  repeatedWrites: number
  lostLazySaves: number
  resubmits: number
  refusedOtherContent: number
  nullCompensations: number
  hangingRefused: number
  duplicates: number
  lateAnswers: number
  lateArrivals: number
  businessFailures: number
  abortsByFailure: number
  abortsByDeadline: number
  abortsByRetryLimit: number
  abortsByRequest: number
  localCommands: number
  remoteCommands: number
  commandsTooLate: number
  delayedStarts: number
  strictSagas: number
  staleViews: number
  tccs: number
  tccsConfirmed: number
  tccsCancelled: number
  tccDeadlines: number
  registeredTooLate: number
  submittedTooLate: number
  nullCancels: number
  hangingTries: number
  messages: number
  messagesDelivered: number
  messagesDropped: number
  checksYes: number
  checksNo: number
  sendersRefused: number
  clientsDead: number
}

export function newCounters(): Counters {
  return {
    sagas: 0,
    succeeded: 0,
    failed: 0,
    stopped: 0,
    crashes: 0,
    crashesInFlight: 0,
    pauses: 0,
    takeovers: 0,
    leasesLost: 0,
    parked: 0,
    releases: 0,
    fencedWrites: 0,
    conflicts: 0,
    ambiguousWrites: 0,
    repeatedWrites: 0,
    lostLazySaves: 0,
    resubmits: 0,
    refusedOtherContent: 0,
    nullCompensations: 0,
    hangingRefused: 0,
    duplicates: 0,
    lateAnswers: 0,
    lateArrivals: 0,
    businessFailures: 0,
    abortsByFailure: 0,
    abortsByDeadline: 0,
    abortsByRetryLimit: 0,
    abortsByRequest: 0,
    localCommands: 0,
    remoteCommands: 0,
    commandsTooLate: 0,
    delayedStarts: 0,
    strictSagas: 0,
    staleViews: 0,
    tccs: 0,
    tccsConfirmed: 0,
    tccsCancelled: 0,
    tccDeadlines: 0,
    registeredTooLate: 0,
    submittedTooLate: 0,
    nullCancels: 0,
    hangingTries: 0,
    messages: 0,
    messagesDelivered: 0,
    messagesDropped: 0,
    checksYes: 0,
    checksNo: 0,
    sendersRefused: 0,
    clientsDead: 0,
  }
}

/** May be zero in a correct world: it tells of what a client may see, not of what the faults did. */
const MAY_BE_ZERO: readonly string[] = ['staleViews'] satisfies (keyof Counters)[]

export function addCounters(sum: Counters, more: Counters): void {
  for (const name of Object.keys(sum) as (keyof Counters)[]) sum[name] += more[name]
}

/** What never happened: reasons why a run proves less than it says. */
export function vacuous(counters: Counters): string[] {
  return Object.entries(counters)
    .filter(([name, count]) => count === 0 && !MAY_BE_ZERO.includes(name))
    .map(([name]) => name)
}
