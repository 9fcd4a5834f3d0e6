import type { Op } from '@counterstep/protocol'
import type { SeededRandom } from '../seeded-random.ts'

/** The treatment that the network gives to one request of the orchestrator. */
export type CallFate =
  | { readonly type: 'pass' }
  /** The request arrives twice: the second copy so much later. */
  | { readonly type: 'double'; readonly afterMs: number }
  /** The caller loses its connection, and the request arrives all the same, so much later. */
  | { readonly type: 'late'; readonly afterMs: number }
  /** The caller loses its connection, and the request never arrives. */
  | { readonly type: 'lose' }
  /** The caller loses its connection, and the request arrives when its compensation has been there. */
  | { readonly type: 'withhold' }

export interface CallKey {
  readonly gid: string
  readonly branchId: string
  readonly op: Op
}

export type CallFates = (key: CallKey) => CallFate

const DOUBLE = 0.1
const LATE = 0.04
const LOSE = 0.02
/** So that two copies also run side by side. */
const AT_ONCE = 0.4
const LATE_MS_MAX = 2_000

/** The fates of a run, until it heals. `isWithheld` says which actions never arrive before their compensation. */
export function seededFates(
  random: SeededRandom,
  isWithheld: (key: CallKey) => boolean,
  hasHealed: () => boolean,
): CallFates {
  return (key) => {
    const draw = random.next()
    const afterMs = random.chance(AT_ONCE) ? 0 : random.between(1, LATE_MS_MAX)
    if (hasHealed()) return { type: 'pass' }
    if (key.op === 'action' && isWithheld(key)) return { type: 'withhold' }
    if (draw < DOUBLE) return { type: 'double', afterMs }
    if (draw < DOUBLE + LATE) return { type: 'late', afterMs }
    return draw < DOUBLE + LATE + LOSE ? { type: 'lose' } : { type: 'pass' }
  }
}
