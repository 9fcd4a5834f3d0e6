import type { JsonValue, NextEntry } from '@counterstep/protocol'
import { copyThroughJson } from './copy-through-json.ts'

/**
 * A signal that comes to a workflow in its test.
 *
 * @example
 * ```ts
 * const approved: TrialSignal = { name: 'approved', payload: { by: 'ann' }, afterMs: 3_600_000 }
 * ```
 */
export interface TrialSignal {
  readonly name: string
  readonly payload?: unknown
  /** When it comes, in virtual milliseconds after the start. The default is 0. */
  readonly afterMs?: number
}

/** Hands each signal to the first wait of its name that is open when it comes, or that opens later. */
export class TrialSignals {
  #left: TrialSignal[]
  readonly #taken = new Map<string, TrialSignal>()

  constructor(signals: readonly TrialSignal[]) {
    this.#left = sortByTime(signals)
  }

  /** Returns how long a wait that opens now waits for its signal. Undefined: none comes in time. */
  takeMs({ id, name, branch }: NextEntry, nowMs: number): number | undefined {
    const { timeoutMs = Number.POSITIVE_INFINITY } = (branch as { wait: { timeoutMs?: number } }).wait
    // An earlier generation may have had a wait of this id.
    this.#taken.delete(id)
    const position = this.#left.findIndex((each) => each.name === name)
    const signal = this.#left[position]
    if (signal === undefined) return undefined
    const comesInMs = Math.max(0, (signal.afterMs ?? 0) - nowMs)
    if (comesInMs > timeoutMs) return undefined
    this.#left.splice(position, 1)
    this.#taken.set(id, signal)
    return comesInMs
  }

  /** Keeps the signal of a wait that was dropped before the code has seen it. */
  giveBack(id: string): void {
    const signal = this.#taken.get(id)
    this.#taken.delete(id)
    if (signal !== undefined) this.#left = sortByTime([...this.#left, signal])
  }

  /** Reads the payload of the signal that a wait has taken. */
  readPayload(id: string): JsonValue {
    return copyThroughJson(this.#taken.get(id)?.payload)
  }
}

function sortByTime(signals: readonly TrialSignal[]): TrialSignal[] {
  return [...signals].sort((one, other) => (one.afterMs ?? 0) - (other.afterMs ?? 0))
}
