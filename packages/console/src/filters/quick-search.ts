import { isGid } from '@counterstep/protocol'
import { type ListFilter, type SearchText, writeListFilter } from './list-filter.ts'

/** Where the search field of the header leads. */
export type SearchTarget =
  | { readonly screen: 'transaction'; readonly gid: string }
  | { readonly screen: 'list'; readonly search: SearchText }

const TAG = /^[a-z][a-z0-9_.-]{0,31}:[^/\s][^\s]*$/

/** Reads what a person typed: a gid, the beginning of one with `*`, a tag `key:value`, or the text of a problem. */
export function readQuickSearch(text: string): SearchTarget | undefined {
  const trimmed = text.trim()
  if (trimmed === '') return undefined
  if (trimmed.includes(' ')) return toList({ problem: trimmed })
  if (trimmed.endsWith('*')) return toList({ gid: trimmed })
  if (TAG.test(trimmed)) return toList({ tag: [trimmed] })
  return isGid(trimmed) ? { screen: 'transaction', gid: trimmed } : toList({ gid: trimmed })
}

function toList(filter: ListFilter): SearchTarget {
  return { screen: 'list', search: writeListFilter(filter) }
}
