/**
 * An event, ordered by (virtual time, sequence). Two events at one instant come in the order in which they were added.
 */
export interface Event {
  at: number
  sequence: number
  /** The kind of the event, for the trace. */
  readonly code: number
  readonly owner: EventOwner | undefined
  /** The owner's incarnation when the event was added. Events of a dead incarnation are dropped. */
  readonly incarnation: number
  readonly run: () => void
}

/** A process that owns events. Its events die with it, and wait while it is paused. */
export interface EventOwner {
  readonly incarnation: number
  readonly pausedUntil: number
}

export class EventHeap {
  readonly #events: Event[] = []

  get size(): number {
    return this.#events.length
  }

  push(event: Event): void {
    const events = this.#events
    let position = events.length
    events.push(event)
    while (position > 0) {
      const parent = (position - 1) >> 1
      const above = events[parent]
      if (above === undefined || isBefore(above, event)) break
      events[position] = above
      position = parent
    }
    events[position] = event
  }

  pop(): Event | undefined {
    const events = this.#events
    const first = events[0]
    const last = events.pop()
    if (first === undefined || last === undefined || events.length === 0) return first
    let position = 0
    for (;;) {
      let child = 2 * position + 1
      let below = events[child]
      if (below === undefined) break
      const right = events[child + 1]
      if (right !== undefined && isBefore(right, below)) {
        child++
        below = right
      }
      if (isBefore(last, below)) break
      events[position] = below
      position = child
    }
    events[position] = last
    return first
  }
}

function isBefore(a: Event, b: Event): boolean {
  return a.at < b.at || (a.at === b.at && a.sequence < b.sequence)
}
