/**
 * Decides how much of its time a node spends on the plans of one target. To read a large or hostile plan may take a tenth of a
 * second, in which the node does nothing else. So the large plans of one target are read one after the other, and after one that
 * took long they rest.
 */

/** A shorter plan costs no more to read than its call costs. A longer one may be read within half a millisecond, or be hostile. */
const COSTLY_PLAN_CHARACTERS_MIN = 4 * 1024
const COSTLY_READING_MS_MIN = 0.5
/** The plans of one target that take longer are read in a tenth of the time. A hostile one takes ten times as long. */
const REST_PER_READING = 9
/** The process may have been stopped while it read a plan. */
const REST_MS_MAX = 2_000
/** A row of one place waits for no turn. */
const TURN_PLACES_MIN = 2

export interface PlanAnswer {
  readonly characters: number
  /** The places that a row as long as the answer takes. */
  readonly places: number
  /** The plans of its target rest. */
  readonly isResting: boolean
  /** An answer of the same plan was dropped before, to wait for its turn. */
  readonly hasWaited: boolean
}

/**
 * Returns the places of the turn that the answer of a plan call takes, as a large row does. 0 or 1: it is read now. One that
 * has had its turn is read whenever it comes, but not within the rest of another: a handler might save up its turns.
 */
export function countPlanTurnPlaces({ characters, places, isResting, hasWaited }: PlanAnswer): number {
  if (characters <= COSTLY_PLAN_CHARACTERS_MIN) return 0
  if (isResting) return Math.max(places, TURN_PLACES_MIN)
  return hasWaited ? 0 : places
}

/** Returns for how long the plans of a target rest after one that took so long to read. */
export function computePlanRestMs(characters: number, tookMs: number): number {
  if (characters <= COSTLY_PLAN_CHARACTERS_MIN || tookMs <= COSTLY_READING_MS_MIN) return 0
  return Math.min(tookMs * REST_PER_READING, REST_MS_MAX)
}
