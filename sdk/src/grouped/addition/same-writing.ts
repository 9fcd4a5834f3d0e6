const NUMBER = /^\s*\+?(-?)0*(0|[1-9]\d*)\s*$/
const UUID = /^\{?([0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12})\}?$/i

/**
 * One text for all that a column of numbers or of UUIDs takes for one key: 7, 007 (ZEROFILL) and +7; a UUID in either
 * case. Letter cases of other texts are a collation's, and stay apart.
 */
export function sameWriting(text: string): string {
  const [, sign, digits] = NUMBER.exec(text) ?? []
  if (digits !== undefined) return `${sign}${digits}`
  const uuid = UUID.exec(text)?.[1]
  return uuid === undefined ? text : uuid.replaceAll('-', '').toLowerCase()
}
