import { JSON_DEPTH_MAX, type JsonValue } from '@counterstep/protocol'

const FEW_KEYS_MAX = 16
const PLAIN_LENGTH_MAX = 256
/** ASCII that needs no escape. */
const PLAIN = /^[ !#-[\]-~]*$/

const NOTHING: ReadonlySet<string> = new Set()

type JsonRecord = { readonly [key: string]: JsonValue }

/**
 * JSON with sorted keys: two requests with equal content have one text.
 * Undefined when the value is nested deeper than JSON_DEPTH_MAX. Numbers are written as JSON.stringify writes them;
 * what a double cannot hold exactly is refused before it comes here.
 */
export function canonicalJson(value: JsonValue): string | undefined {
  return write(value, 1)
}

/** The same, of a record without some of its own fields. */
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

/** By insertion while they are few: it is quicker, and the array's own sort allocates 200 bytes for each key. */
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

/** As JSON.stringify does it, of which a call for each string costs more than a look at the short ones. */
function quote(text: string): string {
  return text.length <= PLAIN_LENGTH_MAX && PLAIN.test(text) ? `"${text}"` : JSON.stringify(text)
}
