import { URL_LENGTH_MAX } from '@counterstep/protocol'
import { isWellFormed } from '../submission/utf8-length.ts'

/** It finds the places `{name}` in a URL, which get values when the URL is called. */
const PLACE = /\{([A-Za-z][A-Za-z0-9_]{0,63})\}/g

export function countUrlPlaces(url: string): number {
  return Array.from(url.matchAll(PLACE)).length
}

/** Lists the names of the places, each once. */
export function listPlaces(url: string): readonly string[] {
  return [...new Set(Array.from(url.matchAll(PLACE), ([, name]) => name as string))]
}

/**
 * Puts values into the places of a URL, percent-encoded as by encodeURIComponent. `readValue` may return undefined for a
 * place that stays as it is. The result is undefined where a value would change which path is called: a segment of the
 * path must not become empty, `.` or `..`. It is undefined, too, for a text that UTF-8 cannot carry.
 *
 * Once the values alone make the URL longer than it may be, nothing more is put in, and the result is over
 * `URL_LENGTH_MAX`. A value of 64 KiB in hundreds of places would otherwise be encoded for seconds.
 */
export function fillUrl(url: string, readValue: (name: string) => string | undefined): string | undefined {
  let isEncodable = true
  let room = URL_LENGTH_MAX
  const filled = url.replaceAll(PLACE, (place, name: string) => {
    if (!isEncodable || room < 0) return place
    const value = readValue(name)
    if (value === undefined) return place
    isEncodable = isWellFormed(value)
    if (!isEncodable) return place
    const encoded = encodeURIComponent(value.slice(0, URL_LENGTH_MAX + 1).replace(CUT_PAIR, ''))
    room -= encoded.length
    return encoded
  })
  return isEncodable && hasSamePath(url, filled) ? filled : undefined
}

/** The first half of a surrogate pair, where a text was cut. */
const CUT_PAIR = /[\ud800-\udbff]$/

/** An encoded value has no slash, so the segments of both URLs stand at the same places. */
function hasSamePath(before: string, after: string): boolean {
  const segments = splitPath(before)
  return splitPath(after).every((segment, position) => segment === segments[position] || isPlain(segment))
}

function splitPath(url: string): readonly string[] {
  return (url.split(/[?#]/, 1)[0] ?? '').split('/')
}

/** Parsers of URLs take `%2e` for a dot. */
function isPlain(segment: string): boolean {
  return !['', '.', '..'].includes(segment.replaceAll(/%2e/gi, '.'))
}

// Parsers of URLs drop line breaks and tabs, and take a backslash for a slash, so that a path would begin elsewhere.
const PLAIN_TEXT = /^[\x21-\x5b\x5d-\x7e]*$/
/** It ends where the path begins: behind `http://host`, or behind the name of a service, as in `bank:/holds`. */
const BEFORE_PATH = /^(?:https?:\/\/[^/?#{}]+(?=\/)|(?!https?:)[^:/?#{}]+:(?=\/(?!\/)))/i

/** Tells why a place stands where none may stand. Returns undefined if all stand in the path or in values of parameters. */
export function findMisplaced(url: string): string | undefined {
  if (!PLAIN_TEXT.test(url)) return 'must be of printable ASCII characters without \\ where it has places'
  const before = BEFORE_PATH.exec(url)
  if (before === null) return 'must have a path, and no place before it'
  const [target, fragment = ''] = splitOnce(url.slice(before[0].length), '#')
  const [path, query = ''] = splitOnce(target, '?')
  const names = query.split('&').map((parameter) => splitOnce(parameter, '=')[0])
  if (hasBrace(fragment) || names.some(hasBrace))
    return 'may have places in its path and in the values of its parameters only'
  return hasBrace(`${path}${query}`.replaceAll(PLACE, ''))
    ? 'has a brace that is part of no {name}'
    : undefined
}

export function hasBrace(text: string): boolean {
  return text.includes('{') || text.includes('}')
}

function splitOnce(text: string, separator: string): readonly [string, string?] {
  const at = text.indexOf(separator)
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}
