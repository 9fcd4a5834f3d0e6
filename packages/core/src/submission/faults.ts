import type { ErrorCode, Fault } from '@counterstep/protocol'

/** This number is enough for a person to mend a request, and it bounds the answer to a hostile one. */
export const FAULTS_MAX = 20
/** The limit of a path and of a message, because both may quote the request. */
const TEXT_LENGTH_MAX = 512

/** A request that was read and refused. Nothing of it is stored. */
export interface Refused {
  readonly type: 'refused'
  readonly faults: readonly [Fault, ...Fault[]]
}

/** Refuses a request that could not be read, though no fault of it is known. */
export function refuseUnreadable(): Refused {
  return { type: 'refused', faults: [{ code: 'SAGA_INVALID', path: '', message: 'cannot be read' }] }
}

/** Collects the faults of a request, each with the JSON pointer of its place. */
export class Faults {
  readonly #list: Fault[] = []

  add(code: ErrorCode, path: string, message: string): undefined {
    if (this.#list.length < FAULTS_MAX)
      this.#list.push({ code, path: shorten(path), message: shorten(message) })
    return undefined
  }

  /** Returns the faults as those of a refused request, or undefined if there is none. */
  readRefusal(): Refused | undefined {
    const [first, ...others] = this.#list
    return first === undefined ? undefined : { type: 'refused', faults: [first, ...others] }
  }

  get isEmpty(): boolean {
    return this.#list.length === 0
  }
}

function shorten(text: string): string {
  return text.length <= TEXT_LENGTH_MAX ? text : `${text.slice(0, TEXT_LENGTH_MAX)}…`
}

/** Escapes a name as one step of a JSON pointer (RFC 6901). */
export function pointerStep(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function refuseUnknownFields(
  value: Readonly<Record<string, unknown>>,
  known: ReadonlySet<string>,
  path: string,
  faults: Faults,
): void {
  for (const name of Object.keys(value)) {
    if (!known.has(name))
      faults.add('SAGA_UNKNOWN_FIELD', `${path}/${pointerStep(name)}`, 'there is no such field')
  }
}

export interface IntegerRange {
  readonly min: number
  readonly max: number
}

/** Reads an integer. The result is undefined when the value is absent or refused. */
export function readInteger(
  value: unknown,
  range: IntegerRange,
  fault: { readonly code: ErrorCode; readonly path: string },
  faults: Faults,
): number | undefined {
  if (value === undefined) return undefined
  if (typeof value !== 'number' || !Number.isInteger(value) || value < range.min || value > range.max) {
    return faults.add(fault.code, fault.path, `must be an integer from ${range.min} to ${range.max}`)
  }
  return value
}
