import { cleanLine } from './clean-text.ts'

/** No gid is as long. Every row is as wide as the longest of its column, so one cell could fill the memory. */
const CELL_LENGTH_MAX = 256

export interface Column<Row> {
  readonly title: string
  readonly read: (row: Row) => string | number | undefined
  /** A longer text is cut. The default is 256 characters. */
  readonly lengthMax?: number
  readonly isRight?: true
}

/** Writes rows in columns, each as wide as its longest text. */
export function writeTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): readonly string[] {
  const cells = rows.map((row) => columns.map((column) => toCell(column, row)))
  const shown = columns.map((_, at) => at).filter((at) => cells.some((line) => line[at] !== ''))
  const titles = columns.map(({ title }) => title)
  const widths = columns.map(({ title }, at) =>
    cells.reduce((widest, line) => Math.max(widest, countCharacters(line[at] ?? '')), title.length),
  )
  return [titles, ...cells].map((line) =>
    shown
      .map((at) => pad(line[at] ?? '', widths[at] ?? 0, columns[at]?.isRight === true))
      .join('  ')
      .trimEnd(),
  )
}

function toCell<Row>({ read, lengthMax }: Column<Row>, row: Row): string {
  const value = read(row)
  return value === undefined ? '' : cutText(cleanLine(String(value)), lengthMax ?? CELL_LENGTH_MAX)
}

export function cutText(text: string, lengthMax: number): string {
  const characters = [...text]
  return characters.length <= lengthMax
    ? text
    : `${characters.slice(0, Math.max(0, lengthMax - 1)).join('')}…`
}

export function pad(text: string, width: number, isRight = false): string {
  const room = ' '.repeat(Math.max(0, width - countCharacters(text)))
  return isRight ? room + text : text + room
}

function countCharacters(text: string): number {
  return [...text].length
}
