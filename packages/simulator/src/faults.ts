import type { Random } from './random.ts'

/** Which faults a seed has, and how strong. Rates are probabilities; times are virtual milliseconds. */
export interface FaultProfile {
  readonly crashes: number
  readonly pauses: number
  readonly loseTail: boolean
  readonly requestLoss: number
  readonly answerLoss: number
  readonly duplicates: number
  readonly lateDuplicates: number
  readonly slowNetworkMs: number
  readonly storeRequestLoss: number
  readonly storeAnswerLoss: number
  readonly storeRefusals: number
  readonly slowStoreMs: number
  readonly flaky: number
  readonly ongoing: number
  readonly silence: number
  readonly slowBranchMs: number
  readonly businessFailures: number
}

/** Each fault is off in about half of the worlds, so that one does not hide what another would show. */
export function drawFaults(random: Random): FaultProfile {
  const rate = (highest: number) => (random.next() < 0.5 ? 0 : random.next() * highest)
  const upTo = (highest: number) => (random.next() < 0.5 ? 0 : random.between(1, highest))
  return {
    crashes: upTo(5),
    pauses: upTo(3),
    loseTail: random.next() < 0.4,
    requestLoss: rate(0.3),
    answerLoss: rate(0.3),
    duplicates: rate(0.3),
    lateDuplicates: rate(0.3),
    slowNetworkMs: upTo(400),
    storeRequestLoss: rate(0.2),
    storeAnswerLoss: rate(0.3),
    storeRefusals: rate(0.2),
    slowStoreMs: upTo(700),
    flaky: rate(0.4),
    ongoing: rate(0.3),
    silence: rate(0.2),
    slowBranchMs: upTo(600),
    businessFailures: rate(0.3),
  }
}

/** After the heal. What is on the wire stays there, and the business keeps its mind. */
export function healed(faults: FaultProfile): FaultProfile {
  return {
    crashes: 0,
    pauses: 0,
    loseTail: false,
    requestLoss: 0,
    answerLoss: 0,
    duplicates: 0,
    lateDuplicates: 0,
    slowNetworkMs: 0,
    storeRequestLoss: 0,
    storeAnswerLoss: 0,
    storeRefusals: 0,
    slowStoreMs: 0,
    flaky: 0,
    ongoing: 0,
    silence: 0,
    slowBranchMs: 0,
    businessFailures: faults.businessFailures,
  }
}
