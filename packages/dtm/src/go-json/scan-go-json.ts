/**
 * Reads JSON with the error texts of Go's scanner, since clients and people know them. JSON.parse will not do: it has
 * other texts, keeps only one of two equal keys, and does not tell 1.0 from 1.
 */
import { JSON_DEPTH_MAX } from '@counterstep/protocol'
import { toWellFormed } from '../wire/to-well-formed.ts'
import type { GoMember, GoValue } from './go-value.ts'

export class GoSyntaxError extends Error {
  /** It is true if the text ended too early, for which some decoders of Go have a text of their own. */
  readonly incomplete: boolean

  constructor(message: string, incomplete = false) {
    super(message)
    this.name = 'GoSyntaxError'
    this.incomplete = incomplete
  }
}

/** A request has at most so many values, a hundred steps with their texts among them. Each takes some 60 bytes, however short it is. */
const VALUES_MAX = 10_000

/** The JSON is nested too deep, or has too many values. No field that the dialect reads is deeper than three levels. */
export class GoBoundError extends GoSyntaxError {
  constructor(message: string) {
    super(message)
    this.name = 'GoBoundError'
  }
}

export interface Scanned {
  readonly value: GoValue
  /** This is the text after the value. */
  readonly rest: string
}

/** Reads one value at the start of the text. No text in it refers to the whole one. Throws GoSyntaxError. */
export function scanGoValue(text: string): Scanned {
  const scanner = new Scanner(text)
  const value = scanner.value(1)
  return { value, rest: text.slice(scanner.position) }
}

/** Reads one value, which nothing may follow. Throws GoSyntaxError. */
export function scanGoJson(text: string): GoValue {
  const { value, rest } = scanGoValue(text)
  const [after] = rest.replace(/^[ \t\r\n]+/, '')
  if (after !== undefined) throw new GoSyntaxError(`invalid character ${quote(after)} after top-level value`)
  return value
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ['\\', '\\'],
  ['/', '/'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
])

class Scanner {
  readonly #text: string
  position = 0
  #values = 0

  constructor(text: string) {
    this.#text = text
  }

  value(depth: number): GoValue {
    if (depth > JSON_DEPTH_MAX) throw new GoBoundError('exceeded max depth')
    if (++this.#values > VALUES_MAX) throw new GoBoundError(`more than ${VALUES_MAX} values`)
    const start = this.#nextAfterSpace()
    switch (start) {
      case '{':
        return this.#object(depth)
      case '[':
        return this.#array(depth)
      case '"':
        return { type: 'string', value: this.#string() }
      case 't':
        return this.#literal('true', { type: 'bool', value: true })
      case 'f':
        return this.#literal('false', { type: 'bool', value: false })
      case 'n':
        return this.#literal('null', { type: 'null' })
      default:
        if (start === '-' || isDigit(start)) return this.#number()
        throw this.#unexpected('looking for beginning of value')
    }
  }

  #object(depth: number): GoValue {
    const members: GoMember[] = []
    this.position++
    if (this.#nextAfterSpace() === '}') {
      this.position++
      return { type: 'object', members }
    }
    for (;;) {
      if (this.#nextAfterSpace() !== '"') throw this.#unexpected('looking for beginning of object key string')
      const key = this.#string()
      if (this.#nextAfterSpace() !== ':') throw this.#unexpected('after object key')
      this.position++
      members.push({ key, value: this.value(depth + 1) })
      const end = this.#nextAfterSpace()
      if (end !== ',' && end !== '}') throw this.#unexpected('after object key:value pair')
      this.position++
      if (end === '}') return { type: 'object', members }
    }
  }

  #array(depth: number): GoValue {
    const items: GoValue[] = []
    this.position++
    if (this.#nextAfterSpace() === ']') {
      this.position++
      return { type: 'array', items }
    }
    for (;;) {
      items.push(this.value(depth + 1))
      const end = this.#nextAfterSpace()
      if (end !== ',' && end !== ']') throw this.#unexpected('after array element')
      this.position++
      if (end === ']') return { type: 'array', items }
    }
  }

  #literal(word: string, value: GoValue): GoValue {
    for (const letter of word) {
      if (this.#next() !== letter) throw this.#unexpected(`in literal ${word} (expecting ${quote(letter)})`)
      this.position++
    }
    return value
  }

  #number(): GoValue {
    const start = this.position
    if (this.#next() === '-') this.position++
    if (this.#next() === '0') this.position++
    else this.#digits('in numeric literal')
    if (this.#next() === '.') {
      this.position++
      this.#digits('after decimal point in numeric literal')
    }
    if (this.#next() === 'e' || this.#next() === 'E') {
      this.position++
      if (this.#next() === '+' || this.#next() === '-') this.position++
      this.#digits('in exponent of numeric literal')
    }
    return { type: 'number', text: this.#text.slice(start, this.position) }
  }

  #digits(place: string): void {
    if (!isDigit(this.#next())) throw this.#unexpected(place)
    while (isDigit(this.#next())) this.position++
  }

  /** Lone surrogates become U+FFFD, as in Go. */
  #string(): string {
    let value = ''
    const start = ++this.position
    let from = start
    for (;;) {
      const character = this.#next()
      if (character === undefined || character < ' ') throw this.#unexpected('in string literal')
      this.position++
      if (character === '"')
        return toWellFormed(
          from === start ? this.#copy(from) : value + this.#text.slice(from, this.position - 1),
        )
      if (character !== '\\') continue
      value += this.#text.slice(from, this.position - 1) + this.#escape()
      from = this.position
    }
  }

  /**
   * Copies the literal that has just been read, which has no escapes. A slice would keep the whole text in memory for as long as
   * a transaction with one of its URLs is.
   */
  #copy(from: number): string {
    return JSON.parse(this.#text.slice(from - 1, this.position)) as string
  }

  #escape(): string {
    const letter = this.#next()
    if (letter === 'u') return this.#codeUnit()
    const escaped = letter === undefined ? undefined : ESCAPES.get(letter)
    if (escaped === undefined) throw this.#unexpected('in string escape code')
    this.position++
    return escaped
  }

  #codeUnit(): string {
    this.position++
    const start = this.position
    for (let digits = 0; digits < 4; digits++) {
      if (!/^[0-9A-Fa-f]$/.test(this.#next() ?? ''))
        throw this.#unexpected('in \\u hexadecimal character escape')
      this.position++
    }
    return String.fromCharCode(Number.parseInt(this.#text.slice(start, this.position), 16))
  }

  #next(): string | undefined {
    return this.#text[this.position]
  }

  #nextAfterSpace(): string | undefined {
    while (isSpace(this.#next())) this.position++
    return this.#next()
  }

  #unexpected(place: string): GoSyntaxError {
    const character = this.#next()
    return character === undefined
      ? new GoSyntaxError('unexpected end of JSON input', true)
      : new GoSyntaxError(`invalid character ${quote(character)} ${place}`)
  }
}

function isDigit(character: string | undefined): boolean {
  return character !== undefined && character >= '0' && character <= '9'
}

function isSpace(character: string | undefined): boolean {
  return character === ' ' || character === '\t' || character === '\r' || character === '\n'
}

function quote(character: string): string {
  if (character === "'") return `'\\''`
  if (character === '"') return `'"'`
  return `'${JSON.stringify(character).slice(1, -1)}'`
}
