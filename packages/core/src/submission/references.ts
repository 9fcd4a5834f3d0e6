/** Reads the references of a submit: where they may stand, and which value each of them means. */
import {
  BODY_BYTES_MAX,
  INPUT_BYTES_MAX,
  JSON_DEPTH_MAX,
  type JsonValue,
  PAYLOAD_BYTES_MAX,
  POINTER_LENGTH_MAX,
  REFERENCES_MAX,
} from '@counterstep/protocol'
import type { JsonTemplate, SagaBranch, SagaValues, ValueReference } from '../definition.ts'
import { toPlainText } from '../values/build-request.ts'
import { countBytes } from '../values/count-bytes.ts'
import { readPointer } from '../values/find-json-values.ts'
import type { Writable } from '../writable.ts'
import { type Faults, isRecord, pointerStep } from './faults.ts'
import type { BranchContext } from './parse-branch.ts'
import { isHeaderValue } from './parse-headers.ts'
import { utf8Length } from './utf8-length.ts'

export interface SagaContext extends BranchContext {
  readonly references: References
}

/** Says whose request a reference stands in, because that decides which branches it may name. */
export type ReferenceUser =
  | { readonly type: 'action'; readonly position: number }
  | { readonly type: 'compensation'; readonly position: number }
  | { readonly type: 'output' }

/** Names a place outside of JSON, where only a string, a number, true or false can stand. */
export type TextPlace = 'url' | 'header' | 'wait'

interface PendingReference {
  /** The branch and the value are filled in when all branches are known. */
  readonly reference: Writable<ValueReference>
  readonly branchId: string
  readonly pointer: string
  readonly path: string
  readonly user: ReferenceUser
}

type Fields = Readonly<Record<string, unknown>>

const FROM_FIELDS = new Set(['$from', 'at', 'else'])
const INPUT_FIELDS = new Set(['$input', 'else'])
/** An array has other names of its own, such as `length`. */
const INDEX = /^\d+$/

/** Collects the references of one submit. A reference to the input is replaced by its value at once. */
export class References {
  readonly #faults: Faults
  readonly #input: unknown
  readonly #pending: PendingReference[] = []
  #count = 0
  /** It counts the bytes of all copies of parts of the input. */
  #copiedBytes = 0
  #isUsed = false

  constructor(input: unknown, faults: Faults) {
    this.#faults = faults
    this.#input = input
    if (input !== undefined && utf8Length(JSON.stringify(input), INPUT_BYTES_MAX) > INPUT_BYTES_MAX)
      faults.add('SAGA_PAYLOAD_TOO_LARGE', '/input', `is over ${INPUT_BYTES_MAX} bytes`)
  }

  /** Notes that the saga uses what an older version does not know, even if no reference is left in it. */
  markUsed(): void {
    this.#isUsed = true
  }

  /** Reads a template. The texts between its references are joined, so a template without any is one text. */
  readTemplate(value: unknown, path: string, user: ReferenceUser): JsonTemplate {
    this.markUsed()
    const pieces: (string | ValueReference)[] = []
    this.#readJson(value as JsonValue, path, user, pieces)
    const template = joinTexts(pieces)
    const text = template.filter((piece) => typeof piece === 'string').join('')
    if (utf8Length(text, PAYLOAD_BYTES_MAX) > PAYLOAD_BYTES_MAX)
      this.#faults.add('SAGA_PAYLOAD_TOO_LARGE', path, `is over ${PAYLOAD_BYTES_MAX} bytes`)
    return template
  }

  /** Reads a reference that stands outside of JSON. The result is a text where the value is known already. */
  readText(
    value: unknown,
    path: string,
    user: ReferenceUser,
    place: TextPlace,
  ): string | ValueReference | undefined {
    this.markUsed()
    const piece = this.#readReference(value, path, user)
    if (piece === undefined) return undefined
    if (typeof piece === 'string') return toPlainText(piece) ?? this.#refuseText(path)
    const { else: otherwise } = piece
    if (otherwise === undefined) {
      if (user.type !== 'compensation' || place !== 'url') return piece
      return this.#faults.add(
        'SAGA_REFERENCE_NEEDS_ELSE',
        path,
        'needs an else, since the value may be unknown',
      )
    }
    const isLeftOut = otherwise === 'null' && user.type === 'compensation' && place === 'header'
    const text = toPlainText(otherwise)
    const isUsable = text !== undefined && (place !== 'header' || isHeaderValue(text))
    return isLeftOut || isUsable ? piece : this.#refuseText(path)
  }

  /**
   * Finds the branch and the value of each reference, once the branches are in order. Returns undefined if every older
   * version could run the saga, too.
   */
  resolve(
    branches: readonly SagaBranch[],
    output: JsonTemplate | undefined,
    findAncestors: AncestorFinder,
  ): SagaValues | undefined {
    // If one branch cannot be read, it was refused, and the list of branches is empty, so no reference can be found in
    // it.
    if (!this.#isUsed || branches.length === 0) return undefined
    const kept: string[][] = branches.map(() => [])
    const positions = new Map(branches.map(({ id }, position) => [id as string, position]))
    for (const { reference, branchId, pointer, path, user } of this.#pending) {
      const from = positions.get(branchId)
      const wait = from === undefined ? undefined : branches[from]?.wait
      if (from === undefined) this.#faults.add('SAGA_REFERENCE_UNKNOWN', `${path}/$from`, 'no such branch')
      else if (wait !== undefined && wait.type !== 'signal')
        this.#faults.add('SAGA_REFERENCE_UNKNOWN', `${path}/$from`, 'waits for a time, so it has no answer')
      else if (wait?.onTimeout === 'continue' && user.type === 'action' && reference.else === undefined)
        this.#faults.add('SAGA_REFERENCE_NEEDS_ELSE', path, 'needs an else, since the signal may not come')
      else if (!mayUse(user, from, findAncestors))
        this.#faults.add(
          'SAGA_REFERENCE_NOT_BEFORE',
          `${path}/$from`,
          'is no branch that comes before this one',
        )
      else {
        reference.from = from
        reference.value = addOnce(kept[from] as string[], pointer)
      }
    }
    return output === undefined ? { kept } : { kept, output }
  }

  #readJson(value: JsonValue, path: string, user: ReferenceUser, pieces: (string | ValueReference)[]): void {
    if (Array.isArray(value)) {
      pieces.push('[')
      for (const [index, item] of value.entries()) {
        if (index > 0) pieces.push(',')
        this.#readJson(item, `${path}/${index}`, user, pieces)
      }
      pieces.push(']')
    } else if (!isRecord(value)) pieces.push(JSON.stringify(value))
    else {
      const names = Object.keys(value)
      if (names.some((name) => name.startsWith('$'))) {
        pieces.push(this.#readSpecial(value, path, user))
        return
      }
      pieces.push('{')
      for (const [index, name] of names.entries()) {
        pieces.push(`${index > 0 ? ',' : ''}${JSON.stringify(name)}:`)
        this.#readJson(value[name] as JsonValue, `${path}/${pointerStep(name)}`, user, pieces)
      }
      pieces.push('}')
    }
  }

  #readSpecial(value: Fields, path: string, user: ReferenceUser): string | ValueReference {
    if ('$literal' in value && Object.keys(value).length === 1) return JSON.stringify(value.$literal)
    return this.#readReference(value, path, user) ?? 'null'
  }

  /** Reads a reference. A text is the JSON of a value that is known already. */
  #readReference(value: unknown, path: string, user: ReferenceUser): string | ValueReference | undefined {
    const isFrom = isRecord(value) && '$from' in value
    if (!isRecord(value) || isFrom === '$input' in value)
      return this.#refuse(path, 'must be a reference with $from or with $input, or {"$literal": …}')
    const unknown = Object.keys(value).find((name) => !(isFrom ? FROM_FIELDS : INPUT_FIELDS).has(name))
    if (unknown !== undefined)
      return this.#refuse(`${path}/${pointerStep(unknown)}`, 'is no part of a reference')
    this.#count++
    // No more of them are read, because a body of 1 MiB may have 40,000.
    if (this.#count > REFERENCES_MAX + 1) return undefined
    if (this.#count > REFERENCES_MAX)
      return this.#refuse(path, `is one of more than ${REFERENCES_MAX} references`)
    const otherwise = 'else' in value ? JSON.stringify(value.else) : undefined
    const pointer = this.#readPointer(
      isFrom ? (value.at ?? '') : value.$input,
      `${path}/${isFrom ? 'at' : '$input'}`,
    )
    if (pointer === undefined) return undefined
    if (!isFrom)
      return this.#copiedBytes > BODY_BYTES_MAX ? undefined : this.#readInput(pointer, otherwise, path)
    if (typeof value.$from !== 'string') return this.#refuse(`${path}/$from`, 'must be a branch id')
    const reference: Writable<ValueReference> = { from: -1, value: -1 }
    if (otherwise !== undefined) reference.else = otherwise
    this.#pending.push({ reference, branchId: value.$from, pointer, path, user })
    return reference
  }

  #readPointer(value: unknown, path: string): string | undefined {
    const steps = typeof value === 'string' ? readPointer(value) : undefined
    if (typeof value !== 'string' || steps === undefined)
      return this.#refuse(path, 'must be a JSON pointer, such as "" or "/id"')
    if (value.length > POINTER_LENGTH_MAX || steps.length > JSON_DEPTH_MAX)
      return this.#refuse(path, `is over ${POINTER_LENGTH_MAX} characters or ${JSON_DEPTH_MAX} steps`)
    return value
  }

  /** Nothing more is copied after the bound, since a small submit could else take hundreds of megabytes. */
  #readInput(pointer: string, otherwise: string | undefined, path: string): string | undefined {
    const value = findMember(this.#input, readPointer(pointer) ?? [])
    const text = value === undefined ? otherwise : JSON.stringify(value)
    if (text === undefined) return this.#refuse(path, 'names a value that the input does not have')
    this.#copiedBytes += countBytes(text)
    if (this.#copiedBytes <= BODY_BYTES_MAX) return text
    return this.#faults.add(
      'SAGA_PAYLOAD_TOO_LARGE',
      path,
      `copies over ${BODY_BYTES_MAX} bytes of the input`,
    )
  }

  #refuseText(path: string): undefined {
    return this.#refuse(path, 'must give a string, a number, true or false here')
  }

  #refuse(path: string, message: string): undefined {
    return this.#faults.add('SAGA_REFERENCE_INVALID', path, message)
  }
}

function joinTexts(pieces: readonly (string | ValueReference)[]): JsonTemplate {
  const joined: (string | ValueReference)[] = []
  for (const piece of pieces) {
    const last = joined.at(-1)
    if (typeof piece === 'string' && typeof last === 'string') joined[joined.length - 1] = last + piece
    else joined.push(piece)
  }
  return joined
}

/** Finds the value that a pointer leads to. Returns undefined if there is none. */
function findMember(value: unknown, steps: readonly string[]): unknown {
  let found = value
  for (const step of steps) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, step)) return undefined
    if (Array.isArray(found) && !INDEX.test(step)) return undefined
    found = (found as Fields)[step]
  }
  return found
}

/** Returns the place of the item in the list, to which it is added if it is not there. */
function addOnce(list: string[], item: string): number {
  const place = list.indexOf(item)
  return place === -1 ? list.push(item) - 1 : place
}

export type AncestorFinder = (position: number) => ReadonlySet<number>

function mayUse(user: ReferenceUser, from: number, findAncestors: AncestorFinder): boolean {
  if (user.type === 'output') return true
  const isOwn = user.type === 'compensation' && user.position === from
  return isOwn || findAncestors(user.position).has(from)
}

/** Returns a function that finds all branches that must have succeeded before one. It remembers its results. */
export function makeAncestorFinder(branches: readonly SagaBranch[]): AncestorFinder {
  const known = new Map<number, Set<number>>()
  const findAncestors = (position: number): ReadonlySet<number> => {
    const before = known.get(position)
    if (before !== undefined) return before
    const ancestors = new Set<number>()
    known.set(position, ancestors)
    for (const direct of branches[position]?.after ?? []) {
      ancestors.add(direct)
      for (const ancestor of findAncestors(direct)) ancestors.add(ancestor)
    }
    return ancestors
  }
  return findAncestors
}
