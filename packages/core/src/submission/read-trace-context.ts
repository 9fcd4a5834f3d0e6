import { copyText } from '@counterstep/protocol'
import type { TraceContext } from '../definition.ts'

/** At least this many characters of a `tracestate` are to be handed on. */
const STATE_LENGTH_MAX = 512
const STATE_MEMBERS_MAX = 32
/** A member over this length is the first to go when the state is too long. */
const LONG_MEMBER_LENGTH = 128

/** The version, the id of the trace, the id of the caller's span, and the flags. */
const PARENT = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}/
const PARENT_LENGTH = 55
const VERSION = '00'
/** The flags of this version: sampled, and made of random bits. */
const FLAGS_KNOWN = 0b11

const MEMBER_KEY = /^[a-z\d][a-z\d_*/-]{0,255}$|^[a-z\d][a-z\d_*/-]{0,240}@[a-z][a-z\d_*/-]{0,13}$/
const MEMBER_VALUE = /^[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/

/**
 * Reads where a caller's trace stands from its headers `traceparent` and `tracestate`, as W3C Trace Context says
 * (https://www.w3.org/TR/trace-context/). Returns nothing if the first one is not valid. A second one that is not is
 * left out, since the trace goes on without it.
 */
export function readTraceContext(parent: unknown, state?: unknown): TraceContext | undefined {
  if (typeof parent !== 'string' || !PARENT.test(parent) || !hasRightLength(parent)) return undefined
  const flags = Number.parseInt(parent.slice(PARENT_LENGTH - 2, PARENT_LENGTH), 16) & FLAGS_KNOWN
  // Both are kept with the transaction, and a part of a header would keep the whole header in memory.
  const known = copyText(`${VERSION}${parent.slice(2, PARENT_LENGTH - 2)}0${flags}`)
  const members = typeof state === 'string' ? readMembers(state) : undefined
  return members === undefined || members.length === 0
    ? { parent: known }
    : { parent: known, state: copyText(members.join(',')) }
}

/** Returns the id of the trace. */
export function getTraceId({ parent }: TraceContext): string {
  return parent.slice(3, 35)
}

/** Returns the id of the span within the trace. */
export function getSpanId({ parent }: TraceContext): string {
  return parent.slice(36, 52)
}

/** Later versions may add something behind another dash. It is dropped, as are flags that this version does not have. */
function hasRightLength(parent: string): boolean {
  if (parent.length === PARENT_LENGTH) return true
  return !parent.startsWith(VERSION) && parent[PARENT_LENGTH] === '-'
}

function readMembers(state: string): string[] | undefined {
  const members: string[] = []
  const keys = new Set<string>()
  for (const part of state.split(',', STATE_MEMBERS_MAX * 2)) {
    const member = part.trim()
    if (member === '') continue
    const at = member.indexOf('=')
    const key = member.slice(0, Math.max(at, 0))
    if (!MEMBER_KEY.test(key) || !MEMBER_VALUE.test(member.slice(at + 1)) || keys.has(key)) return undefined
    keys.add(key)
    members.push(member)
  }
  return members.length > STATE_MEMBERS_MAX ? undefined : shorten(members)
}

/** Drops whole members: the long ones first, then the oldest ones, which stand last. */
function shorten(members: readonly string[]): string[] {
  const kept = [...members]
  const isTooLong = (): boolean => kept.join(',').length > STATE_LENGTH_MAX
  while (isTooLong()) {
    const long = kept.findLastIndex(({ length }) => length > LONG_MEMBER_LENGTH)
    kept.splice(long === -1 ? kept.length - 1 : long, 1)
  }
  return kept
}
