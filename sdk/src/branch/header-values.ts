/** The headers of a request, as a framework has them. */
export type HeaderValues = Headers | Readonly<Record<string, unknown>>

/** Reads one header. The name is in lower case. */
export function readHeader(headers: HeaderValues, name: string): unknown {
  return isHeaders(headers) ? headers.get(name) : headers[name]
}

export function listHeaders(headers: HeaderValues): readonly (readonly [name: string, value: unknown])[] {
  if (!isHeaders(headers)) return Object.entries(headers)
  const entries: [string, string][] = []
  // biome-ignore lint/complexity/noForEach: Each class of Headers has this method.
  headers.forEach((value, name) => {
    entries.push([name, value])
  })
  return entries
}

/**
 * Tells Headers from a plain object, by their methods: those of a ponyfill, and of another copy of undici, are of a class of
 * their own, and as a plain object they would have no header at all.
 */
function isHeaders(headers: HeaderValues): headers is Headers {
  return typeof headers.get === 'function' && typeof headers.forEach === 'function'
}
