/** A table in the house manner: columns are two or more spaces apart, an arrow before a cell is only for the eye. */
export interface TableRow {
  readonly title: string
  readonly cells: Readonly<Record<string, string>>
}

export function table(text: TemplateStringsArray): readonly TableRow[] {
  const [header, ...lines] = text
    .join('')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const names = cellsOf(header ?? '')
  return lines.map((line) => {
    const cells = cellsOf(line)
    if (cells.length !== names.length) throw new Error(`the row has not ${names.length} cells: ${line}`)
    return {
      title: line.replaceAll(/\s{2,}/g, ' · ').replaceAll('· →', '→'),
      cells: Object.fromEntries(names.map((name, position) => [name, cells[position] ?? ''])),
    }
  })
}

function cellsOf(line: string): string[] {
  return line.split(/\s{2,}/).map((cell) => cell.replace(/^→\s*/, ''))
}
