/** A panel is a read-only table that a host hands to the HTTP API: what it has beside transactions. */

/** A table has so many rows at most. `more` counts the others. */
export const PANEL_ROWS_MAX = 1_000

/** `code`: a URL, an id or a value, to be read letter by letter. `instant`: epoch milliseconds, or a text in their place. */
export const PANEL_COLUMN_TYPES = ['text', 'code', 'instant'] as const
export type PanelColumnType = (typeof PANEL_COLUMN_TYPES)[number]

export interface PanelColumn {
  readonly title: string
  readonly type: PanelColumnType
}

/** Null: there is nothing in this place. */
export type PanelCell = string | number | null

export interface PanelTable {
  readonly columns: readonly PanelColumn[]
  /** Each has one cell for each column. */
  readonly rows: readonly (readonly PanelCell[])[]
}

export interface PanelView extends PanelTable {
  readonly id: string
  readonly title: string
  readonly asOf: number
  /** So many rows were left out. */
  readonly more: number
}

export interface PanelsView {
  /** The panels that the caller may read. */
  readonly items: readonly { readonly id: string; readonly title: string }[]
}
