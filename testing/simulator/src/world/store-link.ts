/**
 * The way from a node to the store and back, with delays, group commits,
 * hangs, lost requests, lost answers and refusals.
 */
import { EVENT } from './event-code.ts'
import type { EventOwner } from './heap.ts'
import type { World } from './world.ts'

/** `no`: the write was definitely not applied. `unknown`: it may have been applied, or may still be. */
export type Unavailable = 'no' | 'unknown'

const STORE_TIMEOUT_MS = 300
const FLUSH_MS = 4

export interface StoreRequest<T> {
  /** The gid, or the name of a node whose request is about many. */
  readonly about: string
  /** Runs at the store when the request arrives. */
  readonly apply: () => T
  readonly answered: (result: T) => void
  readonly unavailable: (applied: Unavailable) => void
}

export function askStore<T>(world: World, node: EventOwner, request: StoreRequest<T>): void {
  const { faults } = world
  const random = world.getRandom(request.about)
  const { incarnation } = node
  if (random.chance(faults.storeRefusals)) {
    world.after(random.between(1, 20), EVENT.storeAnswer, () => request.unavailable('no'), node)
    return
  }
  let isOpen = true
  world.after(
    STORE_TIMEOUT_MS,
    EVENT.storeTimeout,
    () => {
      if (!isOpen) return
      isOpen = false
      world.counters.ambiguousWrites++
      request.unavailable('unknown')
    },
    node,
  )
  if (random.chance(faults.storeRequestLoss)) return
  const slow = faults.slowStoreMs > 0 && random.chance(0.3) ? random.between(0, faults.slowStoreMs) : 0
  const losesAnswer = random.chance(faults.storeAnswerLoss)
  const arrive = () => {
    const hangsMs = world.storeHangsUntil - world.now
    if (hangsMs > 0) {
      world.counters.hungRequests++
      world.after(hangsMs, EVENT.storeArrival, arrive)
      return
    }
    const result = request.apply()
    if (losesAnswer) return
    // The answer comes only after the flush that makes the row durable.
    const flushed = FLUSH_MS - (world.now % FLUSH_MS)
    const answer = () => {
      if (!isOpen) return
      isOpen = false
      request.answered(result)
    }
    world.after(flushed + random.between(1, 3), EVENT.storeAnswer, answer, node, incarnation)
  }
  world.after(1 + random.between(0, 3) + slow, EVENT.storeArrival, arrive)
}
