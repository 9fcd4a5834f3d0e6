import type { AsJson } from '../as-json.ts'

declare const ANSWER: unique symbol

/** The answer of `do` as it comes out of JSON. Without a barrier a step gets no transaction, and an undo may not know it. */
type Done<Tx, Answer> = [Tx] extends [undefined] ? AsJson<Answer> | undefined : AsJson<Answer>

/**
 * A local step of a workflow: code of the service itself, which {@link step} makes. It is a value beside the workflow's
 * function, so it can be undone while the function is changed or broken.
 *
 * @example
 * ```ts
 * const note: SureStep<PoolConnection, { text: string }, void> = step('note', {
 *   do: async (tx: PoolConnection, input: { text: string }) => insertNote(tx, input.text),
 * })
 * ```
 */
export interface SureStep<Tx, Input, Answer> {
  readonly name: string
  readonly do: (tx: Tx, input: Input) => Answer | Promise<Answer>
  readonly undo?: never
  readonly [ANSWER]?: Answer
}

/**
 * A local step that can be undone. `undo` gets the input that was recorded, and what `do` returned.
 *
 * @example
 * ```ts
 * const reserve: UndoableStep<PoolConnection, { sku: string }, { id: number }> = step('reserve', {
 *   do: async (tx: PoolConnection, input: { sku: string }) => ({ id: await insertReservation(tx, input.sku) }),
 *   undo: async (tx, _input, done) => deleteReservation(tx, done.id),
 * })
 * ```
 */
export interface UndoableStep<Tx, Input, Answer> extends Omit<SureStep<Tx, Input, Answer>, 'undo'> {
  readonly undo: (tx: Tx, input: Input, done: Done<Tx, Answer>) => unknown
}

/** Any step behind a barrier of this database. */
export interface AnyStep<Tx = never> {
  readonly name: string
  readonly do: (tx: Tx, input: never) => unknown
  readonly undo?: (tx: Tx, input: never, done: never) => unknown
}

/** The input of a step, which may be none. */
export type StepInput<Step> = Step extends { readonly do: (tx: never, input: infer Input) => unknown }
  ? Input
  : never

/** The value that `do` returns, as it comes out of JSON. */
export type StepAnswer<Step> = Step extends { readonly [ANSWER]?: infer Answer } ? AsJson<Answer> : never

/**
 * Makes a local step. Its `do` runs in the database transaction of the workflow's barrier, together with the barrier's
 * row, and so exactly once; without a barrier `tx` is undefined, and it runs at least once. It throws a BranchFailure if
 * the business says no. Its name is recorded, and finds the step when it is undone: keep it.
 *
 * @example
 * ```ts
 * const reserve = step('reserve', {
 *   do: async (tx: PoolConnection, input: { sku: string }) => ({ id: await insertReservation(tx, input.sku) }),
 *   undo: async (tx, _input, done) => deleteReservation(tx, done.id),
 * })
 * ```
 */
export function step<Tx, Input, Answer>(
  name: string,
  code: {
    readonly do: (tx: Tx, input: Input) => Answer | Promise<Answer>
    readonly undo: (tx: NoInfer<Tx>, input: NoInfer<Input>, done: Done<Tx, NoInfer<Answer>>) => unknown
  },
): UndoableStep<Tx, Input, Answer>
export function step<Tx, Input, Answer>(
  name: string,
  code: { readonly do: (tx: Tx, input: Input) => Answer | Promise<Answer> },
): SureStep<Tx, Input, Answer>
export function step(name: string, code: Omit<AnyStep, 'name'>): AnyStep {
  return { ...code, name }
}
