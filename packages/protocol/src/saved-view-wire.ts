/** A saved view is a filter of the list that a person has given a name. All who use the console share them. */
import type { Actor } from './trail.ts'

export const SAVED_VIEWS_MAX = 100
export const SAVED_VIEW_NAME_LENGTH_MAX = 64
export const SAVED_VIEW_FILTER_LENGTH_MAX = 1_024

const NAME = /^[^\p{C}\p{Zl}\p{Zp}]+$/u
export const SAVED_VIEW_NAME_RULE = `must be 1–${SAVED_VIEW_NAME_LENGTH_MAX} visible characters, without spaces at its ends`

export function isSavedViewName(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value.length <= SAVED_VIEW_NAME_LENGTH_MAX &&
    NAME.test(value) &&
    value.trim() === value
  )
}

export interface SavedViewRequest {
  /** A view of the same name is replaced. */
  readonly name: string
  /** The parameters of the list, as in its URL. `range=24h` stands for the last 24 hours before each look. */
  readonly filter: string
}

export interface SavedView extends SavedViewRequest {
  readonly id: string
  readonly by: Actor
  /** Epoch milliseconds. */
  readonly savedAt: number
}

export interface SavedViews {
  /** In the order of their names. */
  readonly items: readonly SavedView[]
}
