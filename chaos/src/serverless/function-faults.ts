import type { SqsFaults } from '@counterstep/lambda-emulator'
import type { SeededRandom } from '../bank/seeded-random.ts'

const KILLED = 0.05
const KILL_AFTER_MS_MAX = 400
const MESSAGES_LOST = 0.1
const MESSAGES_DOUBLED = 0.2
const MESSAGES_DELAYED = 0.1
const DELAY_MS_MAX = 1_000

/** What AWS may do to functions and messages at its worst, until the run heals. */
export class FunctionFaults {
  readonly #random: SeededRandom
  readonly #seed: number
  #hasHealed = false

  constructor(random: SeededRandom, seed: number) {
    this.#random = random
    this.#seed = seed
  }

  heal(): void {
    this.#hasHealed = true
  }

  /** For an invocation: as a deadline that comes in the middle of its work. */
  killAfterMs = (): number | undefined => {
    const isKilled = this.#random.chance(KILLED)
    const afterMs = this.#random.between(1, KILL_AFTER_MS_MAX)
    return isKilled && !this.#hasHealed ? afterMs : undefined
  }

  /** Read at each message. */
  ofMessages(): SqsFaults {
    const share = (of: number) => (this.#hasHealed ? 0 : of)
    return {
      seed: this.#seed,
      get lostShare() {
        return share(MESSAGES_LOST)
      },
      get doubledShare() {
        return share(MESSAGES_DOUBLED)
      },
      get delayedShare() {
        return share(MESSAGES_DELAYED)
      },
      delayMsMax: DELAY_MS_MAX,
    }
  }
}
