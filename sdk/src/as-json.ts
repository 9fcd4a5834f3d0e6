import type { JsonValue } from '@counterstep/protocol'

/**
 * The type that a value has once it has been through JSON: a `Date` is a text, a `Buffer` an object of numbers, and a function is
 * gone. A type that JSON keeps is the same type.
 *
 * @example
 * ```ts
 * const booked: AsJson<{ id: number; at: Date }> = { id: 7, at: '2026-01-01T00:00:00.000Z' }
 * ```
 */
export type AsJson<Value> = unknown extends Value
  ? Value
  : Value extends Kept
    ? Value
    : Value extends { toJSON(...parameters: never[]): infer Given }
      ? Written<Given>
      : Written<Value>

// biome-ignore lint/suspicious/noConfusingVoidType: it is what a function returns that returns nothing.
type Kept = JsonValue | undefined | void

/** The value that `toJSON` gave is not asked for its own. */
type Written<Value> = Value extends Kept
  ? Value
  : Value extends Unwritten | bigint
    ? never
    : Value extends readonly unknown[]
      ? { [Key in keyof Value]: AsJson<Value[Key]> }
      : { [Key in keyof Value as Value[Key] extends Unwritten ? never : Key]: AsJson<Value[Key]> }

/** JSON leaves such members out. */
type Unwritten = symbol | ((...parameters: never[]) => unknown)
