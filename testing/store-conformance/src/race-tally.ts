import assert from 'node:assert/strict'
import type { RaceAnswer } from './race-messages.ts'

/** If one process wins nearly all pairs, there was no race. */
const WON_SHARE_MIN = 0.05
/** If most pairs of calls did not overlap, there was no race. */
const OVERLAP_SHARE_MIN = 0.5
const FAULTS_SHOWN_MAX = 5

/** Counts the outcomes of a race's pairs. */
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

  noteWin(peer: 0 | 1): void {
    this.#won[peer] += 1
  }

  noteFault(gid: string, what: string, ...evidence: readonly unknown[]): void {
    this.#faults.push(`${gid}: ${what} ${evidence.map((part) => JSON.stringify(part)).join(' | ')}`)
  }

  /** Notes two calls that should have overlapped. */
  noteMeeting(left: RaceAnswer, right: RaceAnswer): void {
    this.#pairs += 1
    if (left.startedAt < right.endedAt && right.startedAt < left.endedAt) this.#overlapped += 1
  }

  /** Throws unless each pair was decided exactly once and in a real race. Returns a line with the measured values. */
  conclude(rows: number): string {
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
