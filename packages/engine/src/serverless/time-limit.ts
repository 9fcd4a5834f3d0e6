import type { Clock } from '@counterstep/core'

/** A time limit that may become earlier, but never later. */
export class TimeLimit {
  readonly over: Promise<void>
  readonly #clock: Clock
  #at: number
  #cancel: () => void = () => undefined
  #end: () => void = () => undefined

  constructor(clock: Clock, at: number) {
    this.#clock = clock
    this.#at = at
    this.over = new Promise((resolve) => {
      this.#end = resolve
    })
    this.#arm()
  }

  get isOver(): boolean {
    return this.#clock.now() >= this.#at
  }

  atMost(leftMs: number): void {
    this.#at = Math.min(this.#at, this.#clock.now() + leftMs)
    this.#arm()
  }

  stop(): void {
    this.#cancel()
  }

  #arm(): void {
    this.#cancel()
    this.#cancel = this.#clock.after(this.#at - this.#clock.now(), this.#end)
  }
}
