import { KIND_CODES, type ListQuery, STATUS_CODES, toMarkBits, toTagParts } from '@counterstep/core'
import type { Status } from '@counterstep/protocol'
import type { Part } from './list-statements.ts'

/** Only the filters that are asked for stand in the statement. */
export function toFilters(query: ListQuery): readonly Part[] {
  const { kind, status, retrying, attention, name, problem, tags, marks, gidPrefix = '' } = query
  const bits = toMarkBits(marks)
  return [
    ...onlyIf(kind, (value) => ({ sql: 'kind = ?', values: [KIND_CODES[value]] })),
    ...onlyIf(status, (value) => ({ sql: '(? >> status) & 1 = 1', values: [toStatusBits(value)] })),
    ...onlyIf(retrying, (value) => ({ sql: 'retrying = ?', values: [Number(value)] })),
    ...onlyIf(attention, (value) => ({ sql: 'attention = ?', values: [Number(value)] })),
    ...onlyIf(name, (value) => ({ sql: 'name = _binary ?', values: [value] })),
    ...onlyIf(problem, (value) => ({ sql: 'problem = _binary ?', values: [value] })),
    ...toTagParts(tags).map((value) => ({ sql: 'INSTR(tags, _binary ?) > 0', values: [value] })),
    ...(bits === 0 ? [] : [{ sql: '(marks & ?) = ?', values: [bits, bits] }]),
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
  return { sql: 'gid >= _binary ? AND gid < _binary ?', values: [prefix, `${prefix}\x7f`] }
}

function onlyIf<Value>(value: Value | undefined, toPart: (value: Value) => Part): readonly Part[] {
  return value === undefined ? [] : [toPart(value)]
}

function toStatusBits(statuses: readonly Status[]): number {
  return statuses.reduce((bits, status) => bits | (1 << STATUS_CODES[status]), 0)
}
