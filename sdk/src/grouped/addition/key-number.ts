const NUMBER = /^\s*\+?(-?)0*(0|[1-9]\d*)\s*$/

/** Returns the digits of a whole number in its only form, without zeros or a plus before it. Returns undefined for another text. */
export function toKeyNumber(text: string): string | undefined {
  const [, sign, digits] = NUMBER.exec(text) ?? []
  return digits === undefined ? undefined : `${sign}${digits}`
}
