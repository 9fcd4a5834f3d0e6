import { type ListFilter, readListFilter, type SearchText, writeListFilter } from './list-filter.ts'
import { parseSearch, stringifySearch } from './search-text.ts'

/** These views are always there. No order of the interface finds the slowest, which the screen of names shows. */
export const BUILT_IN_VIEWS: readonly { readonly words: string; readonly filter: ListFilter }[] = [
  { words: 'Needs a person', filter: { flags: ['attention'], order: 'due' } },
  { words: 'Retrying', filter: { flags: ['retrying'], order: 'due' } },
  { words: 'Paused', filter: { flags: ['paused'], order: '-due' } },
  { words: 'By hand', filter: { flags: ['byHand'] } },
  { words: 'Undone, last 24 h', filter: { status: ['failed'], range: '24h' } },
]

/** Writes a filter as a saved view has it. */
export function toViewText(filter: ListFilter): string {
  return stringifySearch(writeListFilter(filter)).replace(/^\?/, '')
}

/** Reads a saved view into an address. What this console does not know it leaves out. */
export function readViewText(text: string): SearchText {
  return writeListFilter(readListFilter(parseSearch(text)))
}
