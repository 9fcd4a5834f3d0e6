/** Something that must end by an instant. The wheel owns the three numbers; the entry only has the room for them. */
export interface WheelEntry {
  /** By performance.now(). */
  deadlineAt: number
  /** −1 while it is in no slot. */
  wheelSlot: number
  wheelPlace: number
  expire(): void
}

// 1,024 slots of 25 ms: a turn is 25.6 s, so that the usual 10 s deadline is looked at once.
const SLOTS = 1024
const TICK_MS = 25

/**
 * One timer for all deadlines. It fires at most one tick late and never early. An entry costs two array writes to
 * add and two to take back, against an object, a signal and a listener with AbortSignal.timeout.
 */
export class DeadlineWheel {
  readonly #slots: WheelEntry[][] = Array.from({ length: SLOTS }, () => [])
  readonly #holdsProcess: boolean
  #timer: NodeJS.Timeout | undefined = undefined
  #count = 0
  #turning = false
  #tick = 0

  /** `holdsProcess`: whether it goes on for as long as there is an entry. */
  constructor({ holdsProcess }: { readonly holdsProcess: boolean }) {
    this.#holdsProcess = holdsProcess
  }

  add(entry: WheelEntry, now: number, delayMs: number): void {
    entry.deadlineAt = now + delayMs
    const index = (Math.floor(entry.deadlineAt / TICK_MS) + 1) % SLOTS
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
    this.#tick = Math.floor(now / TICK_MS)
    if (this.#timer !== undefined) {
      this.#timer.refresh()
      return
    }
    this.#timer = setTimeout(() => this.#turn(), TICK_MS)
    if (!this.#holdsProcess) this.#timer.unref()
  }

  #turn(): void {
    const now = performance.now()
    const tick = Math.floor(now / TICK_MS)
    const due: WheelEntry[] = []
    // After a long stall one whole turn sees every slot.
    const first = Math.max(this.#tick + 1, tick - SLOTS + 1)
    for (let at = first; at <= tick; at++) {
      for (const entry of this.#slot(at % SLOTS)) if (entry.deadlineAt <= now) due.push(entry)
    }
    this.#tick = tick
    for (const entry of due) {
      // An earlier one may have ended this one.
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
