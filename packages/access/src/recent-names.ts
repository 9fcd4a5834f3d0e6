import { findOrMake } from './find-or-make.ts'

/** So many names are remembered. The oldest is forgotten for a new one. */
const REMEMBERED_MAX = 4_096

interface Noted {
  readonly untilMs: number
  readonly isGood: () => boolean
}

/** Remembers names for some time after they were last noted. */
export class RecentNames {
  readonly #keptMs: number
  readonly #nowMs: () => number
  readonly #noted = new Map<string, Noted>()

  constructor(keptMs: number, nowMs = () => performance.now()) {
    this.#keptMs = keptMs
    this.#nowMs = nowMs
  }

  /** `isGood` tells later whether the reason for which the name was noted still holds. */
  note(name: string, isGood = () => true): void {
    this.#noted.delete(name)
    const untilMs = this.#nowMs() + this.#keptMs
    findOrMake(this.#noted, name, () => ({ untilMs, isGood }), REMEMBERED_MAX)
  }

  has(name: string): boolean {
    const noted = this.#noted.get(name)
    return noted !== undefined && noted.untilMs > this.#nowMs() && noted.isGood()
  }
}
