/**
 * Some servers send these names although they have not packed the body. Every other name says that the body is packed.
 */
const NOT_PACKED: ReadonlySet<string> = new Set(['identity', '', 'none', 'utf-8', 'utf8', 'aws-chunked'])

/** Reads from Content-Encoding how a body is packed, in lower case. Returns undefined if it is not packed. */
export function readContentCoding(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined
  const codings = Array.isArray(header) ? header : [header]
  const packed = codings
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => !NOT_PACKED.has(coding))
  return packed.length === 0 ? undefined : packed.join(', ')
}
