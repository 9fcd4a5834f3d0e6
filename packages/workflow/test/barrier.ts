import { RefusedStepError, type SlotRun } from '@counterstep/workflow'
import { Failure } from './failure.ts'

export type StepCode = (input: unknown, attempt: number) => unknown

/** The rows of a barrier and the effects behind it, which commit together. */
export class Barrier {
  /** Each effect that has committed, such as `~1 reserve`. */
  readonly effects: string[] = []
  readonly #rows = new Map<string, { readonly name: string; readonly value: unknown }>()
  readonly #attempts = new Map<string, number>()
  readonly #steps: Readonly<Record<string, StepCode>>
  /** The process dies after this many commits, before it can say so. */
  #killAfter: number | undefined

  constructor(steps: Readonly<Record<string, StepCode>>, killAfter?: number) {
    this.#steps = steps
    this.#killAfter = killAfter
  }

  run({ slot, name, input }: SlotRun): unknown {
    const row = this.#rows.get(slot)
    if (row !== undefined) {
      if (row.name === name) return row.value
      throw new RefusedStepError({ code: 'SLOT_TAKEN', message: `${slot} is ${row.name}, not ${name}` })
    }
    const attempt = (this.#attempts.get(slot) ?? 0) + 1
    this.#attempts.set(slot, attempt)
    const code = this.#steps[name] ?? (() => ({ done: name }))
    const value = JSON.parse(JSON.stringify(code(input, attempt) ?? null))
    this.#rows.set(slot, { name, value })
    this.effects.push(`${slot} ${name}`)
    if (this.#killAfter === this.effects.length) {
      this.#killAfter = undefined
      throw new Error('the process was killed')
    }
    return value
  }
}

/** A step that the service refuses. */
export function refuse(code: string): StepCode {
  return () => {
    throw new Failure(code)
  }
}
