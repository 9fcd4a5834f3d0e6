import type { Clock } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import type { AlarmClock } from './alarm-clock.ts'

/** A row is told of up to this long after it is due. */
const SLOT_MS = 100
/** So many rows of one group are known for each of these slots. */
const ROWS_PER_SLOT_MAX = 8
/** Rows that are due sooner are bounded by their slots alone. So long is the longest wait of the default retry policy. */
const NEAR_MS = 60_000
/** A row that is due later is not known. It does not matter if it is some seconds late. */
const AHEAD_MS_MAX = 48 * 3_600_000
/** So many rows that are due later than NEAR_MS are known of one caller, and of all callers together. */
const FAR_ROWS_OF_CALLER_MAX = 10_000
const FAR_ROWS_MAX = 50_000

export interface DueRow {
  readonly gid: Gid
  /** The instant is by this node's clock. */
  readonly dueAt: number
  /** Who submitted it. All of whom that is not known count as one. */
  readonly submitter: string | undefined
  /** The listed target of a retry. All others count as one, since names cost nothing. */
  readonly target: string | undefined
}

interface Slot {
  readonly gidsByGroup: Map<string, Gid[]>
  /** The submitters of its rows that were added as far ones. */
  readonly far: string[]
}

/**
 * Knows the next rows that this node has given back to the store, or has accepted for later, so that they need not wait in a
 * backlog of due rows. It knows few of each submitter at a time: the many rows of one that are due at once are the backlog
 * themselves.
 */
export class DueRows {
  readonly #clock: Clock
  readonly #alarms: AlarmClock
  readonly #onDue: (gid: Gid) => void
  /** The slots by their ends. */
  readonly #slots = new Map<number, Slot>()
  readonly #farBySubmitter = new Map<string, number>()
  #far = 0

  constructor(clock: Clock, alarms: AlarmClock, onDue: (gid: Gid) => void) {
    this.#clock = clock
    this.#alarms = alarms
    this.#onDue = onDue
  }

  add({ gid, dueAt, submitter = '', target = '' }: DueRow): void {
    const aheadMs = dueAt - this.#clock.now()
    if (aheadMs > AHEAD_MS_MAX) return
    const isFar = aheadMs > NEAR_MS
    if (isFar && !this.#hasFarRoom(submitter)) return
    const slot = this.#getSlot(Math.ceil(dueAt / SLOT_MS) * SLOT_MS)
    const group = `${submitter} ${target}`
    const gids = slot.gidsByGroup.get(group) ?? []
    if (gids.length >= ROWS_PER_SLOT_MAX) return
    gids.push(gid)
    slot.gidsByGroup.set(group, gids)
    if (!isFar) return
    slot.far.push(submitter)
    this.#countFar(submitter, 1)
  }

  #hasFarRoom(submitter: string): boolean {
    return this.#far < FAR_ROWS_MAX && (this.#farBySubmitter.get(submitter) ?? 0) < FAR_ROWS_OF_CALLER_MAX
  }

  #countFar(submitter: string, by: 1 | -1): void {
    this.#far += by
    const count = (this.#farBySubmitter.get(submitter) ?? 0) + by
    if (count === 0) this.#farBySubmitter.delete(submitter)
    else this.#farBySubmitter.set(submitter, count)
  }

  #getSlot(endAt: number): Slot {
    const known = this.#slots.get(endAt)
    if (known !== undefined) return known
    const slot: Slot = { gidsByGroup: new Map(), far: [] }
    this.#slots.set(endAt, slot)
    // One millisecond later the due instant has passed by the store's clock, too.
    this.#alarms.ringAt(endAt + 1, () => {
      this.#slots.delete(endAt)
      for (const submitter of slot.far) this.#countFar(submitter, -1)
      for (const gids of slot.gidsByGroup.values()) for (const gid of gids) this.#onDue(gid)
    })
    return slot
  }
}
