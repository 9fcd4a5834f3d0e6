import type { Clock } from '@counterstep/core'

/** The size of a row is known only once it was claimed. Until then it counts as one of the largest. */
const UNREAD_PLACES_MAX = 128
/** Where there are few places, it counts as this part of them. */
const UNREAD_PART = 1 / 8
/** A claim that finds no place within this time is left to another invocation. */
const WAIT_MS_MAX = 1_000

interface Waiting {
  readonly rowsMax: number
  readonly admit: (rows: number) => void
}

/**
 * The places that bound the memory of an invocation. Rows are claimed as long as there are places, in the order in which they
 * were asked for. A row that is larger than all places is claimed alone.
 */
export class ClaimRoom {
  /** A row takes so many until its size is known. */
  readonly unreadPlaces: number
  readonly #clock: Clock
  readonly #placesMax: number
  #taken = 0
  readonly #waiting = new Set<Waiting>()
  #isClosed = false

  constructor(clock: Clock, placesMax: number) {
    this.#clock = clock
    this.#placesMax = placesMax
    this.unreadPlaces = Math.min(UNREAD_PLACES_MAX, Math.ceil(placesMax * UNREAD_PART))
  }

  /**
   * Waits until at least one row may be claimed, and returns how many may be, each of which has taken `unreadPlaces`. It is 0
   * if there was no place in time.
   */
  enter(rowsMax = 1): Promise<number> {
    if (this.#isClosed) return Promise.resolve(0)
    if (this.#waiting.size === 0 && this.#hasRoom()) return Promise.resolve(this.#take(rowsMax))
    return new Promise((resolve) => {
      const cancel = this.#clock.after(WAIT_MS_MAX, () => waiting.admit(0))
      const waiting: Waiting = {
        rowsMax,
        admit: (rows) => {
          this.#waiting.delete(waiting)
          cancel()
          resolve(rows)
        },
      }
      this.#waiting.add(waiting)
    })
  }

  /** Corrects what a row has taken, now that its size is known, and returns that. */
  resize(places: number): number {
    this.leave(this.unreadPlaces - places)
    return places
  }

  leave(places: number): void {
    this.#taken -= places
    for (const { rowsMax, admit } of this.#waiting) {
      if (!this.#hasRoom()) return
      admit(this.#take(rowsMax))
    }
  }

  /** It is too late to claim anything. */
  close(): void {
    this.#isClosed = true
    for (const { admit } of this.#waiting) admit(0)
  }

  #hasRoom(): boolean {
    return this.#taken === 0 || this.#taken + this.unreadPlaces <= this.#placesMax
  }

  #take(rowsMax: number): number {
    const rows = Math.max(1, Math.floor((this.#placesMax - this.#taken) / this.unreadPlaces))
    const admitted = Math.min(rows, rowsMax)
    this.#taken += admitted * this.unreadPlaces
    return admitted
  }
}
