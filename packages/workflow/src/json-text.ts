import { type JsonValue, mayBeHandedOn, NOT_HANDED_ON } from '@counterstep/protocol'

/** Counts the bytes that a text has in UTF-8. A half of a surrogate pair alone counts as the three that replace it. */
export function countUtf8Bytes(text: string): number {
  let bytes = text.length
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit < 0x80) continue
    if (unit < 0x800) bytes += 1
    else if (isPair(unit, text.charCodeAt(at + 1))) {
      bytes += 2
      at++
    } else bytes += 2
  }
  return bytes
}

function isPair(first: number, second: number): boolean {
  return first >= 0xd800 && first < 0xdc00 && second >= 0xdc00 && second < 0xe000
}

/** A value as it comes out of JSON, or why it cannot. */
export type JsonCopy =
  | { readonly value: JsonValue | undefined; readonly bytes: number }
  | { readonly fault: string }

/**
 * Copies a value through JSON, so that a function sees in its first run what it sees in each replay, and so that what it
 * changes later is not sent. An `undefined` stays one.
 */
export function copyJson(value: unknown, bytesMax: number): JsonCopy {
  return parseWritten(writeJson(value, bytesMax))
}

/**
 * Copies a value that later calls to the handler bring. Many frameworks refuse a body with such a key for ever, and then neither a
 * plan call nor an undo would arrive.
 */
export function copyHandedOn(value: unknown, bytesMax: number): JsonCopy {
  const written = writeJson(value, bytesMax)
  const isRefused = 'text' in written && written.text !== undefined && !mayBeHandedOn(written.text)
  return isRefused ? { fault: NOT_HANDED_ON } : parseWritten(written)
}

/** A value as JSON. Without a text it is undefined. */
type WrittenJson = { readonly text: string | undefined; readonly bytes: number } | { readonly fault: string }

function writeJson(value: unknown, bytesMax: number): WrittenJson {
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch (error: unknown) {
    return { fault: `is no JSON: ${error instanceof Error ? error.message : String(error)}` }
  }
  if (text === undefined)
    return value === undefined ? { text, bytes: 0 } : { fault: `is a ${typeof value}, no JSON` }
  const bytes = countUtf8Bytes(text)
  return bytes > bytesMax
    ? { fault: `has ${bytes} bytes as JSON, at most ${bytesMax} are kept` }
    : { text, bytes }
}

function parseWritten(written: WrittenJson): JsonCopy {
  if ('fault' in written) return written
  const { text, bytes } = written
  return { value: text === undefined ? undefined : (JSON.parse(text) as JsonValue), bytes }
}
