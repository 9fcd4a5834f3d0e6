import type { PanelView } from '@counterstep/protocol'

/** Keeps the rows of which a cell has the text, whatever its case. */
export function filterRows(rows: PanelView['rows'], text: string): PanelView['rows'] {
  const wanted = text.trim().toLowerCase()
  if (wanted === '') return rows
  return rows.filter((row) =>
    row.some((cell) => cell !== null && String(cell).toLowerCase().includes(wanted)),
  )
}
