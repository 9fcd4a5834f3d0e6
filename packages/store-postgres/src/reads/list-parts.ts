import {
  KIND_CODES,
  type ListCursor,
  type ListOrder,
  type ListQuery,
  STATUS_CODES,
  toMarkBits,
  toTagParts,
} from '@counterstep/core'
import type { Value } from '../sessions/session.ts'

/** A part of a statement with its values. */
export interface Part {
  readonly sql: string
  readonly values: readonly Value[]
}

export const ORDER_BY: Readonly<Record<ListOrder, string>> = {
  created: 'created_at DESC, gid DESC',
  due: 'due_at, gid',
  'due-last': 'due_at DESC, gid DESC',
}

const AFTER: Readonly<Record<ListOrder, string>> = {
  created: '(created_at, gid) < (?, ?)',
  due: '(due_at, gid) > (?, ?)',
  'due-last': '(due_at, gid) < (?, ?)',
}

/** Only the filters that are asked for stand in the statement. */
export function toFilters(query: ListQuery): readonly Part[] {
  const { kind, status, retrying, attention, name, problem, tags, marks, gidPrefix = '' } = query
  const bits = toMarkBits(marks)
  return [
    ...onlyIf(kind, (value) => ({ sql: 'kind = ?', values: [KIND_CODES[value]] })),
    ...onlyIf(status, (value) => ({
      sql: 'status = ANY(?::smallint[])',
      values: [value.map((word) => STATUS_CODES[word])],
    })),
    ...onlyIf(retrying, (value) => ({ sql: 'retrying = ?', values: [Number(value)] })),
    ...onlyIf(attention, (value) => ({ sql: 'attention = ?', values: [Number(value)] })),
    ...onlyIf(name, (value) => ({ sql: 'name = ?', values: [value] })),
    ...onlyIf(problem, (value) => ({ sql: 'problem = ?', values: [value] })),
    ...toTagParts(tags).map((value) => ({ sql: 'strpos(tags, ?) > 0', values: [value] })),
    ...(bits === 0 ? [] : [{ sql: '(marks & ?::smallint) = ?', values: [bits, bits] }]),
    ...(gidPrefix === '' ? [] : [toPrefixRange(gidPrefix)]),
  ]
}

export function toCreatedRange({ createdFrom, createdTo }: ListQuery): readonly Part[] {
  return [
    ...onlyIf(createdFrom, (value) => ({ sql: 'created_at >= ?', values: [value] })),
    ...onlyIf(createdTo, (value) => ({ sql: 'created_at < ?', values: [value] })),
  ]
}

/** A gid is ASCII, so every gid that begins with the prefix stands before the prefix with this behind it. */
export function toPrefixRange(prefix: string): Part {
  return { sql: 'gid >= ? AND gid < ?', values: [prefix, `${prefix}\x7f`] }
}

export function toCursorRange(order: ListOrder, { at, gid }: ListCursor): Part {
  return { sql: AFTER[order], values: [at, gid] }
}

function onlyIf<Value>(value: Value | undefined, toPart: (value: Value) => Part): readonly Part[] {
  return value === undefined ? [] : [toPart(value)]
}
