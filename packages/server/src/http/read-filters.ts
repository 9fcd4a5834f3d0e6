import { type ListOrder, MARKS, type Mark, type Tags } from '@counterstep/core'
import {
  type Gid,
  isGid,
  isTagKey,
  isTagValue,
  PROBLEM_LENGTH_MAX,
  STATUSES,
  type Status,
  TAGS_MAX,
} from '@counterstep/protocol'

/** The orders as the query of a list names them. */
export const LIST_ORDERS: Readonly<Record<string, ListOrder>> = {
  created: 'created',
  due: 'due',
  '-due': 'due-last',
}

/** The filters that stand for a mark of the row. */
export const MARK_FILTERS: Readonly<Record<Mark, string>> = {
  paused: 'paused',
  'by-hand': 'byHand',
  edited: 'edited',
}

export function readOrder(text: string): ListOrder | undefined {
  return Object.hasOwn(LIST_ORDERS, text) ? LIST_ORDERS[text] : undefined
}

/** Reads statuses that are repeated, or joined by commas. Undefined: not all of them are statuses. */
export function readStatuses(texts: readonly string[]): readonly Status[] | undefined {
  const words = texts.flatMap((text) => text.split(','))
  const statuses = STATUSES.filter((status) => words.includes(status))
  return words.every((word) => STATUSES.some((status) => status === word)) ? statuses : undefined
}

/** Reads tags of the form `key:value`. Undefined: one is none, two have one key, or there are more than a row may have. */
export function readTags(texts: readonly string[]): Tags | undefined {
  const pairs = texts.map((text) => {
    const colon = text.indexOf(':')
    return [text.slice(0, Math.max(colon, 0)), text.slice(colon + 1)] as const
  })
  const tags = Object.fromEntries(pairs)
  const isGood = pairs.every(([key, value]) => isTagKey(key) && isTagValue(value))
  return isGood && Object.keys(tags).length === texts.length && texts.length <= TAGS_MAX ? tags : undefined
}

export function readProblem(text: string): string | undefined {
  return text.length >= 1 && text.length <= PROBLEM_LENGTH_MAX ? text : undefined
}

/** Reads a gid, or its beginning before a `*`. */
export function readGidFilter(
  text: string,
): { readonly gid: Gid } | { readonly gidPrefix: string } | undefined {
  if (!text.endsWith('*')) return isGid(text) ? { gid: text } : undefined
  const gidPrefix = text.slice(0, -1)
  return isGid(gidPrefix) || gidPrefix === '.' || gidPrefix === '..' ? { gidPrefix } : undefined
}

/** Names the marks that are asked for. Only `true` can be asked for. */
export function readMarks(isAsked: (filter: string) => boolean): readonly Mark[] | undefined {
  const marks = MARKS.filter((mark) => isAsked(MARK_FILTERS[mark]))
  return marks.length === 0 ? undefined : marks
}

export function readFlag(text: string): boolean | undefined {
  if (text === 'true') return true
  return text === 'false' ? false : undefined
}

export function readInstant(text: string): number | undefined {
  return /^\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined
}
