import type { Clock } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import type { AlarmClock } from './alarm-clock.ts'
import type { Target } from './bulkhead/target.ts'

/** A retry is told of up to this long after it is due. */
const SLOT_MS = 100
/** So many retries of one target are known for each of these slots. */
const RETRIES_PER_SLOT_MAX = 8
/** A retry that is due later is not known. So long is the longest wait of the default retry policy. */
const AHEAD_MS_MAX = 60_000

/**
 * Knows the next retries that this node has given back to the store, so that they need not wait in a backlog of due rows. It
 * knows few of each target: the many retries of one that is down are the backlog themselves.
 */
export class DueRetries {
  readonly #clock: Clock
  readonly #alarms: AlarmClock
  readonly #onDue: (gid: Gid) => void
  /** These are the retries by the end of their slot and by target. All targets that are not listed count as one, since names cost nothing. */
  readonly #slots = new Map<number, Map<Target | undefined, Gid[]>>()

  constructor(clock: Clock, alarms: AlarmClock, onDue: (gid: Gid) => void) {
    this.#clock = clock
    this.#alarms = alarms
    this.#onDue = onDue
  }

  add(gid: Gid, dueAt: number, target: Target): void {
    if (dueAt > this.#clock.now() + AHEAD_MS_MAX) return
    const slot = this.#getSlot(Math.ceil(dueAt / SLOT_MS) * SLOT_MS)
    const key = target.isListed ? target : undefined
    const gids = slot.get(key)
    if (gids === undefined) slot.set(key, [gid])
    else if (gids.length < RETRIES_PER_SLOT_MAX) gids.push(gid)
  }

  #getSlot(endAt: number): Map<Target | undefined, Gid[]> {
    const known = this.#slots.get(endAt)
    if (known !== undefined) return known
    const slot = new Map<Target | undefined, Gid[]>()
    this.#slots.set(endAt, slot)
    // One millisecond later the due instant has passed by the store's clock, too.
    this.#alarms.ringAt(endAt + 1, () => {
      this.#slots.delete(endAt)
      for (const gids of slot.values()) for (const gid of gids) this.#onDue(gid)
    })
    return slot
  }
}
