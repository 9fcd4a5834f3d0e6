import { JSON_DEPTH_MAX, type JsonValue } from '@counterstep/protocol'

const FEW_KEYS_MAX = 16
const PLAIN_LENGTH_MAX = 256
/** Matches ASCII text that needs no escape. */
const PLAIN = /^[ !#-[\]-~]*$/

const NOTHING: ReadonlySet<string> = new Set()

type JsonRecord = { readonly [key: string]: JsonValue }

/**
 * Writes JSON with sorted keys, so that two requests with equal content have the same text.
 * The result is undefined when the value is nested deeper than JSON_DEPTH_MAX. Numbers are written as JSON.stringify
 * writes them; a number that a double cannot represent exactly is refused before it comes here.
 */
export function canonicalJson(value: JsonValue): string | undefined {
  return write(value, 1)
}

/** Writes canonical JSON of a record without some of its top-level fields. */
export function canonicalJsonWithout(fields: ReadonlySet<string>, record: JsonRecord): string | undefined {
  return writeObject(record, 1, fields)
}

function write(value: JsonValue, depth: number): string | undefined {
  if (typeof value === 'string') return quote(value)
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (depth > JSON_DEPTH_MAX) return undefined
  return Array.isArray(value) ? writeArray(value, depth) : writeObject(value as JsonRecord, depth, NOTHING)
}

function writeArray(items: readonly JsonValue[], depth: number): string | undefined {
  let text = '['
  for (let position = 0; position < items.length; position++) {
    const item = write(items[position] ?? null, depth + 1)
    if (item === undefined) return undefined
    text += position === 0 ? item : `,${item}`
  }
  return `${text}]`
}

function writeObject(value: JsonRecord, depth: number, leftOut: ReadonlySet<string>): string | undefined {
  let text = '{'
  for (const key of sortedKeys(value)) {
    const member = value[key]
    if (member === undefined || leftOut.has(key)) continue
    const written = write(member, depth + 1)
    if (written === undefined) return undefined
    text += `${text === '{' ? '' : ','}${quote(key)}:${written}`
  }
  return `${text}}`
}

/**
 * Sorts the keys, by insertion while they are few: that is quicker, and the
 * array's own sort allocates 200 bytes for each key.
 */
function sortedKeys(value: object): readonly string[] {
  const keys = Object.keys(value)
  if (keys.length > FEW_KEYS_MAX) return keys.sort()
  for (let end = 1; end < keys.length; end++) {
    const key = keys[end] as string
    let place = end
    for (; place > 0 && (keys[place - 1] as string) > key; place--) keys[place] = keys[place - 1] as string
    keys[place] = key
  }
  return keys
}

/**
 * Quotes a string as JSON.stringify does. Checking a short string first
 * costs less than calling JSON.stringify for each.
 */
function quote(text: string): string {
  return text.length <= PLAIN_LENGTH_MAX && PLAIN.test(text) ? `"${text}"` : JSON.stringify(text)
}
