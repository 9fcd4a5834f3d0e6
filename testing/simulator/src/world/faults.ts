import type { Random } from './random.ts'

/** The faults of a seed with their strengths. Rates are probabilities, and times are virtual milliseconds. */
export interface FaultProfile {
  readonly crashes: number
  readonly pauses: number
  readonly loseTail: number
  readonly requestLoss: number
  readonly answerLoss: number
  readonly duplicates: number
  readonly lateDuplicates: number
  readonly slowNetworkMs: number
  readonly storeRequestLoss: number
  readonly storeAnswerLoss: number
  readonly storeRefusals: number
  readonly storeHangs: number
  readonly slowStoreMs: number
  /** The largest relative error of the rate of a node's clock. */
  readonly clockDrift: number
  readonly clockJumps: number
  readonly flaky: number
  readonly ongoing: number
  readonly silence: number
  readonly slowBranchMs: number
  /** The rate of calls that find no place on their node, and are not sent. */
  readonly noRoom: number
  readonly businessFailures: number
  /** The number of transactions whose branches answer only errors until all others have ended. */
  readonly poison: number
  /** How often an operator retries each transaction, whatever its state. */
  readonly nags: number
  /** The number of commands that an operator gives each transaction. */
  readonly commands: number
}

export type FaultName = keyof FaultProfile

export const NO_FAULTS: FaultProfile = {
  crashes: 0,
  pauses: 0,
  loseTail: 0,
  requestLoss: 0,
  answerLoss: 0,
  duplicates: 0,
  lateDuplicates: 0,
  slowNetworkMs: 0,
  storeRequestLoss: 0,
  storeAnswerLoss: 0,
  storeRefusals: 0,
  storeHangs: 0,
  slowStoreMs: 0,
  clockDrift: 0,
  clockJumps: 0,
  flaky: 0,
  ongoing: 0,
  silence: 0,
  slowBranchMs: 0,
  noRoom: 0,
  businessFailures: 0,
  poison: 0,
  nags: 0,
  commands: 0,
}

export const FAULT_NAMES = Object.keys(NO_FAULTS) as readonly FaultName[]

/**
 * Draws the faults of a world. Each is off in about half of the worlds,
 * so that one does not hide the effects of another.
 */
export function drawFaults(random: Random, roomRandom: Random, operatorRandom: Random): FaultProfile {
  const rate = (highest: number) => (random.next() < 0.5 ? 0 : random.next() * highest)
  const upTo = (highest: number) => (random.next() < 0.5 ? 0 : random.between(1, highest))
  const sometimes = (highest: number) => (random.next() < 0.75 ? 0 : random.between(1, highest))
  return {
    crashes: upTo(5),
    pauses: upTo(3),
    loseTail: random.next() < 0.4 ? 1 : 0,
    requestLoss: rate(0.3),
    answerLoss: rate(0.3),
    duplicates: rate(0.3),
    lateDuplicates: rate(0.3),
    slowNetworkMs: upTo(400),
    storeRequestLoss: rate(0.2),
    storeAnswerLoss: rate(0.3),
    storeRefusals: rate(0.2),
    storeHangs: sometimes(3),
    slowStoreMs: upTo(700),
    // Most worlds have exact clocks, because some checks must be lenient where clocks are wrong.
    clockDrift: random.next() < 0.75 ? 0 : random.next() * 0.1,
    clockJumps: sometimes(4),
    flaky: rate(0.4),
    ongoing: rate(0.3),
    silence: rate(0.2),
    slowBranchMs: upTo(600),
    businessFailures: rate(0.3),
    poison: sometimes(2),
    nags: sometimes(40),
    // These are drawn from streams of their own, so that they did not change the worlds of existing seeds.
    commands: operatorRandom.next() < 0.5 ? 0 : operatorRandom.between(1, 5),
    noRoom: roomRandom.next() < 0.75 ? 0 : roomRandom.next() * 0.5,
  }
}

export function withoutFaults(faults: FaultProfile, off: readonly FaultName[]): FaultProfile {
  const less: Record<FaultName, number> = { ...faults }
  for (const name of off) less[name] = 0
  return less
}

/** Returns the faults after the heal. Only the business failures stay; requests under way stay as they are. */
export function healFaults({ businessFailures }: FaultProfile): FaultProfile {
  return { ...NO_FAULTS, businessFailures }
}
