import type { Gid } from '@counterstep/protocol'
import type { AlarmClock } from './alarm-clock.ts'

/** Far rows are kept by the minute in which they are due, and become near ones so long before it. */
const MINUTE_MS = 60_000
/** So many are known of one submitter, and of all together. */
const ROWS_OF_SUBMITTER_MAX = 10_000
const ROWS_MAX = 50_000

export interface DueRow {
  readonly gid: Gid
  /** The instant is by this node's clock. */
  readonly dueAt: number
  /** Who submitted it. All of whom that is not known count as one. */
  readonly submitter: string | undefined
  /** The listed target of a retry. All others count as one, since names cost nothing. */
  readonly target: string | undefined
}

interface OwnRows {
  count: number
  readonly byMinute: Map<number, DueRow[]>
}

/**
 * Keeps rows that are due in minutes to days. Where there is no room, the one that is due last gives way: of the same submitter,
 * or of the one that has the most.
 */
export class FarRows {
  readonly #alarms: AlarmClock
  readonly #onNear: (row: DueRow) => void
  readonly #bySubmitter = new Map<string, OwnRows>()
  /** An alarm is set for each of these minutes. */
  readonly #minutes = new Set<number>()
  #count = 0

  constructor(alarms: AlarmClock, onNear: (row: DueRow) => void) {
    this.#alarms = alarms
    this.#onNear = onNear
  }

  add(row: DueRow): void {
    const submitter = row.submitter ?? ''
    const own = this.#bySubmitter.get(submitter) ?? { count: 0, byMinute: new Map<number, DueRow[]>() }
    const minute = Math.floor(row.dueAt / MINUTE_MS)
    if (own.count >= ROWS_OF_SUBMITTER_MAX && !this.#giveWay(own, minute)) return
    if (this.#count >= ROWS_MAX) {
      const busiest = this.#findBusiest()
      if (!this.#giveWay(busiest, busiest === own ? minute : Number.NEGATIVE_INFINITY)) return
    }
    this.#bySubmitter.set(submitter, own)
    const rows = own.byMinute.get(minute)
    if (rows === undefined) own.byMinute.set(minute, [row])
    else rows.push(row)
    this.#changeCount(own, 1)
    this.#setAlarm(minute)
  }

  /** Forgets a row that is due in a later minute than this one. Returns false if there is none. */
  #giveWay(own: OwnRows, minute: number): boolean {
    const last = Math.max(...own.byMinute.keys())
    const rows = own.byMinute.get(last)
    if (rows === undefined || last <= minute) return false
    rows.pop()
    if (rows.length === 0) own.byMinute.delete(last)
    this.#changeCount(own, -1)
    return true
  }

  #findBusiest(): OwnRows {
    let busiest: OwnRows = { count: 0, byMinute: new Map() }
    for (const own of this.#bySubmitter.values()) if (own.count > busiest.count) busiest = own
    return busiest
  }

  #changeCount(own: OwnRows, by: number): void {
    own.count += by
    this.#count += by
  }

  #setAlarm(minute: number): void {
    if (this.#minutes.has(minute)) return
    this.#minutes.add(minute)
    this.#alarms.ringAt((minute - 1) * MINUTE_MS, () => {
      this.#minutes.delete(minute)
      for (const [submitter, own] of this.#bySubmitter) {
        const rows = own.byMinute.get(minute) ?? []
        own.byMinute.delete(minute)
        this.#changeCount(own, -rows.length)
        if (own.count === 0) this.#bySubmitter.delete(submitter)
        for (const row of rows) this.#onNear(row)
      }
    })
  }
}
