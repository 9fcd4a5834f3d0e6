import type { Fault } from './errors.ts'
import { isExactNumber } from './exact-number.ts'
import { findStringEnd } from './json-depth.ts'

const NUMBER_END = /[0-9.eE+-]+/y
const PATH_LENGTH_MAX = 512

/** Describes an open array or object, and the place in it that is being read. */
interface Container {
  readonly type: 'array' | 'object'
  index: number
  key: string
}

/**
 * Walks a text that JSON.parse has accepted and returns its first fault that JSON.parse cannot show: a number that
 * would be changed, or a key that poisons prototypes. It takes time in proportion to the length, and is not recursive.
 */
export function findJsonFault(text: string): Fault | undefined {
  const open: Container[] = []
  let keyExpected = false
  let at = 0
  while (at < text.length) {
    const character = text[at]
    const container = open.at(-1)
    if (character === '"') {
      const end = findStringEnd(text, at) + 1
      if (keyExpected && container !== undefined) {
        container.key = decodeString(text.slice(at, end))
        if (isPoisonous(open)) return toPoisonFault(open)
        keyExpected = false
      }
      at = end
    } else if (character === '{' || character === '[') {
      open.push({ type: character === '{' ? 'object' : 'array', index: 0, key: '' })
      keyExpected = character === '{'
      at += 1
    } else if (character === '}' || character === ']') {
      open.pop()
      keyExpected = false
      at += 1
    } else if (character === ',') {
      if (container !== undefined) container.index += 1
      keyExpected = container?.type === 'object'
      at += 1
    } else if (isNumberStart(character)) {
      const end = findNumberEnd(text, at)
      if (!isExactNumber(text.slice(at, end))) return toNumberFault(open)
      at = end
    } else {
      at += 1
    }
  }
  return undefined
}

function findNumberEnd(text: string, start: number): number {
  NUMBER_END.lastIndex = start
  NUMBER_END.test(text)
  return NUMBER_END.lastIndex
}

function isNumberStart(character: string | undefined): boolean {
  return character === '-' || (character !== undefined && character >= '0' && character <= '9')
}

function decodeString(literal: string): string {
  return literal.includes('\\') ? String(JSON.parse(literal)) : literal.slice(1, -1)
}

function isPoisonous(open: readonly Container[]): boolean {
  const key = open.at(-1)?.key
  return key === '__proto__' || (key === 'prototype' && open.at(-2)?.key === 'constructor')
}

function toPoisonFault(open: readonly Container[]): Fault {
  const message = 'keys that reach a prototype are refused: __proto__, and prototype in constructor'
  return { code: 'SAGA_INVALID', path: toPointer(open), message }
}

function toNumberFault(open: readonly Container[]): Fault {
  const message = 'a double cannot hold this number exactly; send it as a string'
  return { code: 'SAGA_NUMBER_NOT_EXACT', path: toPointer(open), message }
}

/** A path is cut here, since a body may have a key as long as itself, or as many levels. */
function toPointer(open: readonly Container[]): string {
  let path = ''
  for (const { type, index, key } of open) {
    const token = type === 'array' ? String(index) : key.slice(0, PATH_LENGTH_MAX)
    path += `/${token.replaceAll('~', '~0').replaceAll('/', '~1')}`
    if (path.length > PATH_LENGTH_MAX) return `${path.slice(0, PATH_LENGTH_MAX)}…`
  }
  return path
}
