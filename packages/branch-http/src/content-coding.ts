/** Some servers name what is no coding at all, and send the body as it is. Any other name is taken for packed. */
const NOT_PACKED: ReadonlySet<string> = new Set(['identity', '', 'none', 'utf-8', 'utf8', 'aws-chunked'])

/** How a body is packed, in lower case, by its Content-Encoding. Undefined: it is not packed. */
export function readContentCoding(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined
  const codings = Array.isArray(header) ? header : [header]
  const packed = codings
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => !NOT_PACKED.has(coding))
  return packed.length === 0 ? undefined : packed.join(', ')
}
