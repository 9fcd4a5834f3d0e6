import type { Clock } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import type { AlarmClock } from './alarm-clock.ts'
import { type DueRow, FarRows } from './far-rows.ts'

/** A row is told of up to this long after it is due. */
const SLOT_MS = 100
/** So many rows of one group are known for each of these slots. */
const ROWS_PER_SLOT_MAX = 8
/** Rows that are due sooner stand in slots already. So long is the longest wait of the default retry policy. */
const NEAR_MS = 60_000
/** A row that is due later is not known. It does not matter if it is some seconds late. */
const AHEAD_MS_MAX = 48 * 3_600_000

/**
 * Knows the next rows that this node has given back to the store, or has accepted for later, so that they need not wait in a
 * backlog of due rows. It knows few of each submitter at a time: the many rows of one that are due at once are the backlog
 * themselves.
 */
export class DueRows {
  readonly #clock: Clock
  readonly #alarms: AlarmClock
  readonly #onDue: (gid: Gid) => void
  readonly #farRows: FarRows
  /** The gids by the end of their slot and by group. */
  readonly #slots = new Map<number, Map<string, Gid[]>>()

  constructor(clock: Clock, alarms: AlarmClock, onDue: (gid: Gid) => void) {
    this.#clock = clock
    this.#alarms = alarms
    this.#onDue = onDue
    this.#farRows = new FarRows(alarms, (row) => this.#addNear(row))
  }

  add(row: DueRow): void {
    const aheadMs = row.dueAt - this.#clock.now()
    if (aheadMs <= NEAR_MS) this.#addNear(row)
    else if (aheadMs <= AHEAD_MS_MAX) this.#farRows.add(row)
  }

  #addNear({ gid, dueAt, submitter = '', target = '' }: DueRow): void {
    const slot = this.#getSlot(Math.ceil(dueAt / SLOT_MS) * SLOT_MS)
    const group = `${submitter} ${target}`
    const gids = slot.get(group)
    if (gids === undefined) slot.set(group, [gid])
    else if (gids.length < ROWS_PER_SLOT_MAX) gids.push(gid)
  }

  #getSlot(endAt: number): Map<string, Gid[]> {
    const known = this.#slots.get(endAt)
    if (known !== undefined) return known
    const slot = new Map<string, Gid[]>()
    this.#slots.set(endAt, slot)
    // One millisecond later the due instant has passed by the store's clock, too.
    this.#alarms.ringAt(endAt + 1, () => {
      this.#slots.delete(endAt)
      for (const gids of slot.values()) for (const gid of gids) this.#onDue(gid)
    })
    return slot
  }
}
