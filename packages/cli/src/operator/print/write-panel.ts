import type { PanelCell, PanelColumn, PanelsView, PanelView } from '@counterstep/protocol'
import { cleanLine } from './clean-text.ts'
import { formatInstant } from './instants.ts'
import { writeTable } from './write-table.ts'

type Named = PanelsView['items'][number]

const CELL_LENGTH_MAX = 96

export function writePanels({ items }: PanelsView): readonly string[] {
  if (items.length === 0) return ['There is no panel that this key may read.']
  const columns = [
    { title: 'ID', read: ({ id }: Named) => id },
    { title: 'TITLE', read: ({ title }: Named) => title },
  ] as const
  return writeTable(columns, items)
}

export function writePanel({ title, columns, rows, more }: PanelView): readonly string[] {
  if (rows.length === 0) return [cleanLine(`${title} has no rows.`)]
  const shown = columns.map((column, at) => ({
    title: cleanLine(column.title.toUpperCase()),
    lengthMax: CELL_LENGTH_MAX,
    read: (row: readonly PanelCell[]) => toText(column, row[at] ?? null),
  }))
  return [...writeTable(shown, rows), ...(more === 0 ? [] : [`There are ${more} more.`])]
}

function toText({ type }: PanelColumn, cell: PanelCell): string {
  if (cell === null) return '–'
  return type === 'instant' && typeof cell === 'number' ? formatInstant(cell) : String(cell)
}
