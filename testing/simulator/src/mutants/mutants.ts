/**
 * Wrong orchestrators and wrong worlds, which prove that the auditor finds errors. All of this is wiring of the simulator:
 * the production code has no switch for it.
 */
import type { Rules } from '@counterstep/core'
import { pauseIgnored, retryIsSuccess } from './operator-mutants.ts'
import {
  alwaysConcurrent,
  askAtOnce,
  cancelAfterFailure,
  cancelAfterSubmit,
  deliverWhilePrepared,
  dropRegistered,
  oldestFirst,
  ongoingCheckIsSuccess,
  submitLazily,
  unknownCheckIsFailure,
  xaGivenUp,
  xaNewestFirst,
} from './prepared-mutants.ts'
import { callbackEndsIt, reportPutsNothingOff } from './recorded-mutants.ts'
import {
  abortLazily,
  backoffNone,
  backoffUncapped,
  compensateForward,
  deadlineBeatsSuccess,
  deadlineEarly,
  heldBackForgotten,
  orderIgnored,
  recordedOnly,
  strictLazily,
  succeededOnly,
  unknownIsFailure,
} from './saga-mutants.ts'
import {
  abortWhilePivotUnknown,
  deadlineAfterPivot,
  pivotUnmarked,
  retriableFails,
  retryEndsTimer,
  signalToTwo,
  signalTwice,
  timerEarly,
} from './stage-mutants.ts'
import {
  abortForgetsValues,
  ownAnswerLazily,
  unusableUnmarked,
  unusableWaits,
  valuesLazily,
} from './value-mutants.ts'
import { buildFlawed, type Flaw, RIGHT, type Wiring } from './wiring.ts'

const WRONG_RULES: Readonly<Record<string, Rules>> = {
  'recorded-only': recordedOnly,
  'succeeded-only': succeededOnly,
  'abort-lazily': abortLazily,
  'strict-lazily': strictLazily,
  'unknown-is-failure': unknownIsFailure,
  'order-ignored': orderIgnored,
  'compensate-forward': compensateForward,
  'deadline-beats-success': deadlineBeatsSuccess,
  'deadline-early': deadlineEarly,
  'backoff-none': backoffNone,
  'backoff-uncapped': backoffUncapped,
  'held-back-forgotten': heldBackForgotten,
  'values-lazily': valuesLazily,
  'own-answer-lazily': ownAnswerLazily,
  'abort-forgets-values': abortForgetsValues,
  'unusable-waits': unusableWaits,
  'unusable-unmarked': unusableUnmarked,
  'timer-early': timerEarly,
  'retry-ends-timer': retryEndsTimer,
  'signal-twice': signalTwice,
  'signal-to-two': signalToTwo,
  'pivot-unmarked': pivotUnmarked,
  'deadline-after-pivot': deadlineAfterPivot,
  'retriable-fails': retriableFails,
  'retry-is-success': retryIsSuccess,
  'pause-ignored': pauseIgnored,
  'cancel-after-submit': cancelAfterSubmit,
  'cancel-after-failure': cancelAfterFailure,
  'oldest-first': oldestFirst,
  'xa-newest-first': xaNewestFirst,
  'xa-given-up': xaGivenUp,
  'callback-ends-it': callbackEndsIt,
  'report-puts-nothing-off': reportPutsNothingOff,
  'submit-lazily': submitLazily,
  'drop-registered': dropRegistered,
  'unknown-check-is-failure': unknownCheckIsFailure,
  'ongoing-check-is-success': ongoingCheckIsSuccess,
  'deliver-while-prepared': deliverWhilePrepared,
  'ask-at-once': askAtOnce,
  'always-concurrent': alwaysConcurrent,
}

const FLAWS: readonly Flaw[] = [
  'token-reused',
  'token-ignored',
  'version-reissued',
  'says-saved',
  'finish-unchecked',
  'trouble-kept',
  'sent-list-trusted',
  'ack-before-durable',
  'act-before-accept',
  'told-early',
  'drop-on-learn',
  'lease-by-own-clock',
  'no-self-fencing',
  'submit-restarts',
  'refused-write-repeated',
  'refused-though-stored',
  'other-content-taken',
  'retries-block-claims',
  'shows-from-memory',
  'never-claims',
  'payload-reparsed',
  'payload-of-neighbour',
  'value-reparsed',
  'value-of-last-answer',
  'url-of-last-answer',
  'header-of-last-answer',
  'else-in-url',
  'template-in-payload',
  'forgets-to-end',
  'signal-dropped-on-learn',
  'timeout-beats-signal',
  'trail-dropped-on-learn',
  'record-dropped-on-learn',
  'second-result-wins',
  'no-null-compensation',
  'no-anti-hanging',
  'no-idempotency',
  'no-rollback-row',
  'barrier-row-apart',
  'barrier-purged',
]

/** These are too rare to be found within 1,000 seeds; a million seeds show them. */
const RARE: readonly Flaw[] = ['version-by-clock', 'learns-given-back']

export const MUTANTS: Readonly<Record<string, Wiring>> = {
  ...Object.fromEntries(Object.entries(WRONG_RULES).map(([name, rules]) => [name, { ...RIGHT, rules }])),
  ...Object.fromEntries(FLAWS.map((flaw) => [flaw, buildFlawed(flaw)])),
  // The refusal of an abort is no part of the rules, so this one needs both.
  'abort-while-pivot-unknown': { rules: abortWhilePivotUnknown, flaw: 'abort-while-pivot-unknown' },
}

export function findWiring(mutant: string | undefined): Wiring {
  if (mutant === undefined) return RIGHT
  const rare = RARE.find((flaw) => flaw === mutant)
  const wiring = rare === undefined ? MUTANTS[mutant] : buildFlawed(rare)
  if (wiring === undefined)
    throw new RangeError(`no mutant ${mutant}; there are ${[...Object.keys(MUTANTS), ...RARE].join(', ')}`)
  return wiring
}
