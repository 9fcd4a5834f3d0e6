/** Reads a table of a test. Columns are two or more spaces apart; an arrow before a cell is decoration. */
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
  const names = readCells(header ?? '')
  return lines.map((line) => {
    const cells = readCells(line)
    if (cells.length !== names.length) throw new Error(`the row has not ${names.length} cells: ${line}`)
    return {
      title: line.replaceAll(/\s{2,}/g, ' · ').replaceAll('· →', '→'),
      cells: Object.fromEntries(names.map((name, position) => [name, cells[position] ?? ''])),
    }
  })
}

function readCells(line: string): string[] {
  return line.split(/\s{2,}/).map((cell) => cell.replace(/^→\s*/, ''))
}
