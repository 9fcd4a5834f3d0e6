import type { PayloadValue, Reference } from '@counterstep/protocol'
import { CounterstepError } from './errors.ts'

declare const VALUE: unique symbol
declare const UNKNOWN: unique symbol

/**
 * A value that is put in when the request is sent. `Unknown` is what a compensation gets if the answer was lost: null,
 * or never for a value that is always known. An `undefined` in `Value` says that the answer may have no such value.
 */
export interface RefValue<Value, Unknown = null> {
  readonly [VALUE]: Value
  readonly [UNKNOWN]: Unknown
}

/**
 * Names a value of a branch's answer, or of the saga's input, before it is there: what the callbacks of a saga get. Its
 * properties are references to the properties of the value. It stands in a payload, a header or a place of a URL, and
 * is itself no text and no number: to use it as one throws a TypeError. An `if` cannot look at it.
 *
 * @example
 * ```ts
 * const byHold = (hold: Ref<{ holdId: string; cents: number }>) => ({ payload: { id: hold.holdId, cents: hold.cents } })
 * ```
 */
export type Ref<Value, Unknown = null> = RefValue<Value, Unknown> & RefProperties<Value, Unknown>

/** Below a value that may be null or missing, every value may be missing. */
type RefProperties<Value, Unknown> = PropertiesOf<
  NonNullable<Value>,
  Unknown,
  Value extends null | undefined ? undefined : never
>

/** The names `then` and `toJSON` are never properties, since JavaScript itself asks an object for them. */
type PropertiesOf<Value, Unknown, Missing> = [Value] extends [never]
  ? unknown
  : Value extends readonly (infer Item)[]
    ? number extends Value['length']
      ? { readonly [index: number]: Ref<Item | undefined, Unknown> }
      : { readonly [Key in Extract<keyof Value, `${number}`>]: Ref<Value[Key] | Missing, Unknown> }
    : Value extends object
      ? {
          readonly [Key in Exclude<keyof Value, symbol | 'then' | 'toJSON'>]-?: Ref<
            Value[Key] | Missing | (Value extends Readonly<Record<Key, unknown>> ? never : undefined),
            Unknown
          >
        }
      : unknown

/** The wire's form of each reference. A proxy has no place of its own for it that no property could hide. */
const references = new WeakMap<object, Reference>()

/** Makes a reference to all that a branch answers. */
export function refToAnswer<Answer>(branchId: string): Ref<Answer> {
  return makeRef({ $from: branchId }) as Ref<Answer>
}

/** Makes a reference to the whole input of the saga. */
export function refToInput<Input>(): Ref<Input, never> {
  return makeRef({ $input: '' }) as Ref<Input, never>
}

/** Returns what the wire has for a reference, and undefined for any other value. */
export function readRef(value: unknown): Reference | undefined {
  return typeof value === 'object' && value !== null ? references.get(value) : undefined
}

/**
 * Says what stands in the place of a value that is not there: one that the answer may lack, or one that a compensation
 * may not know. Without it a request with such a value does not compile.
 *
 * @example
 * ```ts
 * const memo = endpoint<{ text: string }, void>('ledger:/memos')
 * const order = saga()
 *   .branch('hold', endpoint<void, { note?: string }>('bank:/holds'))
 *   .branch('memo', memo, ({ hold }) => ({ payload: { text: orElse(hold.note, 'no note') } }))
 * ```
 */
export function orElse<Value, const Else extends PayloadValue>(
  // An item of a list is undefined to a compiler with noUncheckedIndexedAccess, and never is when this runs.
  ref: RefValue<Value, unknown> | undefined,
  value: Else,
): RefValue<Exclude<Value, undefined> | Else, never> {
  const reference = readRef(ref)
  if (reference === undefined || hasRef(value)) throw new TypeError('orElse takes a reference and plain JSON')
  const complete = makeRef({ ...reference, else: value })
  return complete as unknown as RefValue<Exclude<Value, undefined> | Else, never>
}

/** An editor and a log show the target, which is the reference in the wire's form. */
function makeRef(reference: Reference): object {
  const ref = new Proxy<object>(
    { ...reference },
    {
      get: (_target, name) => readProperty(reference, name),
      ownKeys: () => refuseUse(reference, 'be spread or listed'),
      set: () => false,
      defineProperty: () => false,
      deleteProperty: () => false,
    },
  )
  references.set(ref, reference)
  return ref
}

function readProperty(reference: Reference, name: string | symbol): unknown {
  if (name === Symbol.toPrimitive) return () => refuseUse(reference, 'be used as a text or a number')
  // An await asks for `then`, and other parts of JavaScript for symbols: a reference has none of them.
  if (typeof name === 'symbol' || name === 'then') return undefined
  if (name === 'toJSON') return () => reference
  if ('else' in reference)
    return refuseUse(reference, 'have properties behind orElse: take the property first')
  const step = `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
  return makeRef(withStep(reference, step))
}

function withStep(reference: Reference, step: string): Reference {
  if ('$input' in reference) return { $input: `${reference.$input}${step}` }
  return { $from: reference.$from, at: `${reference.at ?? ''}${step}` }
}

function refuseUse(reference: Reference, use: string): never {
  const { else: _else, ...value } = reference
  throw new TypeError(
    `the reference ${JSON.stringify(value)} cannot ${use}, since its value is not there yet`,
  )
}

/** Says whether there is a reference in a value. One that writes itself, such as a Date, has none. */
export function hasRef(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (readRef(value) !== undefined) return true
  return !('toJSON' in value) && Object.values(value).some(hasRef)
}

/** Writes a value as a template of the wire, in which only references are read as such. */
export function writeTemplate(value: unknown): unknown {
  const reference = readRef(value)
  if (reference !== undefined) return reference
  if (typeof value !== 'object' || value === null) return value
  if (!hasRef(value)) return hasSpecialName(value) ? { $literal: value } : value
  if (Array.isArray(value)) return value.map(writeTemplate)
  const special = Object.keys(value).find((name) => name.startsWith('$'))
  if (special !== undefined) {
    const text = `an object with a property ${special} cannot have references, since the server reads such objects itself`
    throw new CounterstepError('SAGA_REFERENCE_INVALID', text, { meaning: 'failure' })
  }
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, writeTemplate(each)]))
}

/** An object with a name that begins with `$`, at any depth, would be read as a reference by the server. */
function hasSpecialName(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([name, each]) => name.startsWith('$') || hasSpecialName(each))
}
