import { JSON_DEPTH_MAX, type JsonValue } from '@counterstep/protocol'

// Of ours and of most payloads: writing it costs a call each time, though requests are alike.
const KEYS_MAX = 1_000
const KEY_LENGTH_MAX = 64
const quotedKeys = new Map<string, string>()

/**
 * JSON with sorted keys: two requests with equal content have one text.
 * Undefined when the value is nested deeper than JSON_DEPTH_MAX. Numbers are written as JSON.stringify writes them;
 * what a double cannot hold exactly is refused before it comes here.
 */
export function canonicalJson(value: JsonValue): string | undefined {
  return write(value, 1)
}

function write(value: JsonValue, depth: number): string | undefined {
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (depth > JSON_DEPTH_MAX) return undefined
  return Array.isArray(value)
    ? writeArray(value, depth)
    : writeObject(value as { [key: string]: JsonValue }, depth)
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

function writeObject(value: { readonly [key: string]: JsonValue }, depth: number): string | undefined {
  let text = ''
  for (const key of Object.keys(value).sort()) {
    const member = value[key]
    if (member === undefined) continue
    const written = write(member, depth + 1)
    if (written === undefined) return undefined
    text += `${text === '' ? '' : ','}${quoted(key)}:${written}`
  }
  return `{${text}}`
}

function quoted(key: string): string {
  const known = quotedKeys.get(key)
  if (known !== undefined) return known
  const text = JSON.stringify(key)
  if (quotedKeys.size < KEYS_MAX && key.length <= KEY_LENGTH_MAX) quotedKeys.set(key, text)
  return text
}
