import type { SqsFaults } from '@counterstep/lambda-emulator'
import type { SeededRandom } from '../bank/seeded-random.ts'
import type { LambdaSettings } from './lambda-settings.ts'

const KILLED = 0.05
/** A slow machine makes more invocations of a saga, and each kill makes it slower: it is not to have more of them for that. */
const KILLS_PER_SAGA_MAX = 0.07
const KILL_AFTER_MS_MAX = 400
const MESSAGES_LOST = 0.1
const MESSAGES_DOUBLED = 0.4
const MESSAGES_DELAYED = 0.1
const DELAY_MS_MAX = 1_000

/** The worst that AWS may do to functions and messages, until the run heals. */
export class FunctionFaults {
  readonly #random: SeededRandom
  readonly #seed: number
  readonly #killsMax: number
  #kills = 0
  #hasHealed = false

  constructor(random: SeededRandom, { seed, sagas }: Pick<LambdaSettings, 'seed' | 'sagas'>) {
    this.#random = random
    this.#seed = seed
    this.#killsMax = Math.ceil(sagas * KILLS_PER_SAGA_MAX)
  }

  heal(): void {
    this.#hasHealed = true
  }

  /** Draws the time of a kill for one invocation: like a deadline that comes in the middle of its work. */
  killAfterMs = (): number | undefined => {
    const isKilled = this.#random.chance(KILLED)
    const afterMs = this.#random.between(1, KILL_AFTER_MS_MAX)
    if (!isKilled || this.#hasHealed || this.#kills === this.#killsMax) return undefined
    this.#kills += 1
    return afterMs
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
