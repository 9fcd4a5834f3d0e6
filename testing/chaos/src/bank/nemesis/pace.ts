import { setTimeout as delay } from 'node:timers/promises'

const POLL_EVERY_MS = 10

/**
 * Keeps the clients and the nemesis side by side, so that every fault meets work under way on a fast machine and on a
 * slow one: an action is due at its share of the submits, and submits do not run further ahead than one action.
 */
export class Pace {
  readonly #total: number
  readonly #lanes: Lane[] = []
  #submitted = 0

  constructor(total: number) {
    this.#total = total
  }

  get submitted(): number {
    return this.#submitted
  }

  /** The progress from 0 to 1. */
  get progress(): number {
    return this.#submitted / this.#total
  }

  lane(actions: number): Lane {
    const lane = new Lane(actions, this)
    this.#lanes.push(lane)
    return lane
  }

  /** Waits for its turn, and takes it. */
  async submitNext(): Promise<void> {
    while (this.#lanes.some((lane) => this.progress > lane.submitsUntil)) await delay(POLL_EVERY_MS)
    this.#submitted += 1
  }

  async untilProgress(share: number): Promise<void> {
    while (this.progress < share) await delay(POLL_EVERY_MS)
  }
}

/** One series of actions, each due in the middle of its share of the run. */
export class Lane {
  readonly #actions: number
  readonly #pace: Pace
  #done = 0

  constructor(actions: number, pace: Pace) {
    this.#actions = actions
    this.#pace = pace
  }

  get done(): number {
    return this.#done
  }

  /** The share of all submits that need not wait for the action that is due. */
  get submitsUntil(): number {
    return this.#done >= this.#actions ? 1 : (this.#done + 1.5) / this.#actions
  }

  async untilDue(): Promise<void> {
    await this.#pace.untilProgress(Math.min(1, (this.#done + 0.5) / this.#actions))
  }

  finishOne(): void {
    this.#done += 1
  }
}
