/**
 * Reads every value of a header from Node's list of names and values. Node's object of headers does not have them all:
 * it keeps only the first value of some headers, and joins the values of others.
 */
export function readRawValues(rawHeaders: readonly string[], wanted: string): readonly string[] {
  const values: string[] = []
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    if (name.length === wanted.length && name.toLowerCase() === wanted)
      values.push(rawHeaders[index + 1] ?? '')
  }
  return values
}

/**
 * Returns the origin as a URL has it: in lower case, without the port of the scheme. A text that is no host gives an
 * origin that no call was signed for.
 */
export function toOrigin(protocol: string, host: string): string {
  return URL.parse(`${protocol}://${host}`)?.origin ?? ''
}
