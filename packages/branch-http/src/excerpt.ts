import { isUtf8 } from 'node:buffer'
import { ANSWER_BYTES_MAX } from '@counterstep/protocol'

// Line feed and tab may stay. The others could rewrite a line of a terminal or turn the direction of a text.
// biome-ignore lint/suspicious/noControlCharactersInRegex: The pattern has to find control characters.
const HARMFUL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/
const HARMFUL_ALL = new RegExp(HARMFUL.source, 'g')

/** Returns the body's first bytes as valid UTF-8 of at most ANSWER_BYTES_MAX bytes, which is harmless to print. */
export function readExcerpt(body: Buffer): string | undefined {
  const bytes = cutAtCharacter(body)
  const text = bytes.toString('utf8')
  if (text.length === 0) return undefined
  if (!HARMFUL.test(text) && isUtf8(bytes)) return text
  // U+FFFD is longer than the character that it replaces, so the text is measured again.
  return cutAtCharacter(Buffer.from(text.replace(HARMFUL_ALL, '\u{fffd}'))).toString('utf8')
}

function cutAtCharacter(bytes: Buffer): Buffer {
  if (bytes.length <= ANSWER_BYTES_MAX) return bytes
  let end = ANSWER_BYTES_MAX
  // A character has at most three continuation bytes. Bytes with more are not UTF-8 and may be cut anywhere.
  while (end > ANSWER_BYTES_MAX - 4 && isContinuation(bytes[end])) end--
  return bytes.subarray(0, isContinuation(bytes[end]) ? ANSWER_BYTES_MAX : end)
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80
}
