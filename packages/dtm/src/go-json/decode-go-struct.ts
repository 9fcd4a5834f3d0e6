/** Puts JSON into a struct's fields as Go's decoder does. A value of the wrong type gets Go's error text. */
import { cutRepeated } from '../wire/cut-repeated.ts'
import type { GoValue } from './go-value.ts'

export type GoFieldType =
  | 'string'
  | 'bool'
  | 'int64'
  | '[]string'
  | 'map[string]string'
  | '[]map[string]string'

export interface GoField {
  /** Go's error texts name the field so: the structs that embed it, then its key. */
  readonly path: string
  readonly type: GoFieldType
}

/** The keys are spelled as in the struct's tags. */
export type GoFields = Readonly<Record<string, GoField>>

type Decoded<T extends GoFieldType> = T extends 'string'
  ? string
  : T extends 'bool'
    ? boolean
    : T extends 'int64'
      ? number
      : T extends '[]string'
        ? readonly string[]
        : T extends 'map[string]string'
          ? Readonly<Record<string, string>>
          : readonly Readonly<Record<string, string>>[]

/** A field that the text does not name has Go's zero value. */
export type GoStruct<F extends GoFields> = { readonly [Key in keyof F]: Decoded<F[Key]['type']> }

export class GoTypeError extends Error {
  constructor(found: string, into: string) {
    super(`json: cannot unmarshal ${found} into Go ${into}`)
    this.name = 'GoTypeError'
  }
}

/**
 * Decodes an object. Keys match in any letter case, the last of equal keys counts, unknown keys are ignored, and null
 * leaves a field as it is. Throws GoTypeError.
 */
export function decodeGoStruct<F extends GoFields>(value: GoValue, fields: F, struct: string): GoStruct<F> {
  if (value.type !== 'object' && value.type !== 'null')
    throw new GoTypeError(value.type, `value of type ${struct}`)
  const decoded: Record<string, unknown> = {}
  for (const [key, { type }] of Object.entries(fields)) decoded[key] = getZeroValue(type)
  for (const { key, value: member } of value.type === 'null' ? [] : value.members) {
    const known = key in fields ? key : key.toLowerCase()
    const field = Object.hasOwn(fields, known) ? fields[known] : undefined
    if (field !== undefined && member.type !== 'null') decoded[known] = decodeField(member, field)
  }
  return decoded as GoStruct<F>
}

/** Decodes a `map[string]string`, which is the type of old clients' flat bodies. Throws GoTypeError. */
export function decodeGoMap(value: GoValue, into: string, valueInto: string): Record<string, string> {
  if (value.type !== 'object') throw new GoTypeError(value.type, into)
  const map: [string, string][] = value.members.map(({ key, value: member }) => [
    key,
    decodeText(member, valueInto),
  ])
  return Object.fromEntries(map)
}

function getZeroValue(type: GoFieldType): unknown {
  switch (type) {
    case 'string':
      return ''
    case 'bool':
      return false
    case 'int64':
      return 0
    case 'map[string]string':
      return {}
    case '[]string':
    case '[]map[string]string':
      return []
  }
}

function decodeField(value: GoValue, { path, type }: GoField): unknown {
  const into = `struct field ${path} of type ${type}`
  const textInto = `struct field ${path} of type string`
  switch (type) {
    case 'string':
      return decodeText(value, into)
    case 'bool':
      if (value.type !== 'bool') throw new GoTypeError(value.type, into)
      return value.value
    case 'int64':
      return decodeInteger(value, into)
    case '[]string':
      return decodeItems(value, into).map((item) => decodeText(item, textInto))
    case 'map[string]string':
      return decodeGoMap(value, into, textInto)
    case '[]map[string]string':
      return decodeItems(value, into).map((item) =>
        item.type === 'null'
          ? {}
          : decodeGoMap(item, `struct field ${path} of type map[string]string`, textInto),
      )
  }
}

function decodeText(value: GoValue, into: string): string {
  if (value.type === 'null') return ''
  if (value.type !== 'string') throw new GoTypeError(value.type, into)
  return value.value
}

function decodeInteger(value: GoValue, into: string): number {
  if (value.type !== 'number') throw new GoTypeError(value.type, into)
  // A number that a double cannot hold is far over every bound, so it would be refused anyway.
  if (!/^-?\d{1,15}$/.test(value.text)) throw new GoTypeError(`number ${cutRepeated(value.text)}`, into)
  return Number(value.text)
}

function decodeItems(value: GoValue, into: string): readonly GoValue[] {
  if (value.type !== 'array') throw new GoTypeError(value.type, into)
  return value.items
}
