import assert from 'node:assert/strict'
import type { RaceAnswer } from './race-messages.ts'

/** A race of which one process wins nearly all has not been one. */
const WON_SHARE_MIN = 0.05
/** So has one whose calls mostly did not meet. */
const OVERLAP_SHARE_MIN = 0.5
const FAULTS_SHOWN_MAX = 5

/** What became of a race's pairs. */
export class RaceTally {
  readonly #title: string
  readonly #startedAt = performance.now()
  readonly #faults: string[] = []
  readonly #won: [number, number] = [0, 0]
  #pairs = 0
  #overlapped = 0

  constructor(title: string) {
    this.#title = title
  }

  won(peer: 0 | 1): void {
    this.#won[peer] += 1
  }

  fault(gid: string, what: string, ...evidence: readonly unknown[]): void {
    this.#faults.push(`${gid}: ${what} ${evidence.map((part) => JSON.stringify(part)).join(' | ')}`)
  }

  /** Two calls that should have met. */
  met(left: RaceAnswer, right: RaceAnswer): void {
    this.#pairs += 1
    if (left.startedAt < right.endedAt && right.startedAt < left.endedAt) this.#overlapped += 1
  }

  /** Throws unless each pair was decided once and by a true race; tells what was measured. */
  verdict(rows: number): string {
    const [left, right] = this.#won
    const overlap = this.#overlapped / this.#pairs
    const measured =
      `${this.#title}: ${rows} rows, won ${left} and ${right}, ${Math.round(100 * overlap)} % of ` +
      `${this.#pairs} pairs in flight at once, ${Math.round(performance.now() - this.#startedAt)} ms`
    assert.equal(
      this.#faults.length,
      0,
      `${this.#faults.length} faults; ${measured}\n${this.#faults.slice(0, FAULTS_SHOWN_MAX).join('\n')}`,
    )
    assert.equal(left + right, rows, measured)
    assert.ok(Math.min(left, right) >= WON_SHARE_MIN * rows, `one process wins nearly all: ${measured}`)
    assert.ok(overlap >= OVERLAP_SHARE_MIN, `the pairs hardly met: ${measured}`)
    return measured
  }
}
