/** Databases take these characters around a number for blanks, and no others. */
const NUMBER = /^[ \t\n\v\f\r]*(?:\+|(-))?0*(0|[1-9]\d*)[ \t\n\v\f\r]*$/

/** Returns the digits of a whole number in its only form, without zeros or a plus before it. Returns undefined for another text. */
export function toKeyNumber(text: string): string | undefined {
  const [, sign, digits] = NUMBER.exec(text) ?? []
  return digits === undefined ? undefined : `${sign ?? ''}${digits}`
}
