/** An entry has to end by a deadline. The wheel keeps its numbers in these three fields. */
export interface WheelEntry {
  /** This is an instant of performance.now(). */
  deadlineAt: number
  /** It is −1 while the entry is in no slot. */
  wheelSlot: number
  wheelPlace: number
  expire(): void
}

// A turn takes 25.6 s with ticks of 25 ms, so that an entry with the usual deadline of 10 s is looked at once.
const SLOTS = 1024

/**
 * Has one timer for all deadlines, which keeps the process alive while there is an entry. A deadline may be noticed
 * `tickMs` late, and never early. To add an entry takes two writes to an array, and to remove it two more.
 * AbortSignal.timeout would need an object, a signal and a listener for each.
 */
export class DeadlineWheel {
  readonly #slots: WheelEntry[][] = Array.from({ length: SLOTS }, () => [])
  readonly #tickMs: number
  #timer: NodeJS.Timeout | undefined = undefined
  #count = 0
  #turning = false
  #tick = 0

  constructor(tickMs: number) {
    this.#tickMs = tickMs
  }

  add(entry: WheelEntry, now: number, delayMs: number): void {
    entry.deadlineAt = now + delayMs
    const index = (Math.floor(entry.deadlineAt / this.#tickMs) + 1) % SLOTS
    const slot = this.#slot(index)
    entry.wheelSlot = index
    entry.wheelPlace = slot.push(entry) - 1
    this.#count++
    if (!this.#turning) this.#start(now)
  }

  remove(entry: WheelEntry): void {
    if (entry.wheelSlot < 0) return
    const slot = this.#slot(entry.wheelSlot)
    const last = slot.pop()
    if (last !== undefined && last !== entry) {
      slot[entry.wheelPlace] = last
      last.wheelPlace = entry.wheelPlace
    }
    entry.wheelSlot = -1
    this.#count--
  }

  #start(now: number): void {
    this.#turning = true
    this.#tick = Math.floor(now / this.#tickMs)
    if (this.#timer !== undefined) {
      this.#timer.refresh()
      return
    }
    this.#timer = setTimeout(() => this.#turn(), this.#tickMs)
  }

  #turn(): void {
    const now = performance.now()
    const tick = Math.floor(now / this.#tickMs)
    const due: WheelEntry[] = []
    // One whole turn visits every slot, so that even a long pause of the process needs no more than one.
    const first = Math.max(this.#tick + 1, tick - SLOTS + 1)
    for (let at = first; at <= tick; at++) {
      for (const entry of this.#slot(at % SLOTS)) if (entry.deadlineAt <= now) due.push(entry)
    }
    this.#tick = tick
    for (const entry of due) {
      // An earlier entry may have ended this one.
      if (entry.wheelSlot < 0) continue
      this.remove(entry)
      entry.expire()
    }
    if (this.#count === 0) this.#turning = false
    else this.#timer?.refresh()
  }

  #slot(index: number): WheelEntry[] {
    const slot = this.#slots[index]
    if (slot === undefined) throw new RangeError(`deadline out of range: slot ${index}`)
    return slot
  }
}
