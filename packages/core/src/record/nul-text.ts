const NUL = '\0'
const MARK = '\u0001'

/**
 * Writes a NUL as two other characters. PostgreSQL holds no NUL in a text, and Node 22 and the first releases of Node 24 read a
 * text of SQLite only up to its first NUL. JSON has neither NUL nor the mark, so the project's own texts are stored unchanged.
 * A value of the wrong type is refused later, alone.
 */
export function textToColumn(text: string): string {
  if (typeof text !== 'string' || !(text.includes(NUL) || text.includes(MARK))) return text
  return text.replaceAll(MARK, `${MARK}1`).replaceAll(NUL, `${MARK}0`)
}

export function columnToText(cell: string): string {
  if (!cell.includes(MARK)) return cell
  return cell.replaceAll(`${MARK}0`, NUL).replaceAll(`${MARK}1`, MARK)
}
