/** Returns the key for one attempt, or undefined if the client has none. */
export type KeyReader = (() => string | Promise<string>) | undefined

/** Makes the reader of the key. Throws a TypeError that does not show the key. */
export function createKeyReader(
  apiKey: string | (() => string | Promise<string>) | undefined,
  headers: Readonly<Record<string, string>>,
): KeyReader {
  if (apiKey === undefined) return undefined
  if (Object.keys(headers).some((name) => name.toLowerCase() === 'authorization'))
    throw new TypeError('apiKey and an authorization in headers exclude each other')
  if (typeof apiKey === 'string') {
    const key = checked(apiKey)
    return () => key
  }
  return async () => checked(await apiKey())
}

/**
 * Checks a key. A line break from a file would otherwise fail deep inside an HTTP client, whose error might show the
 * header.
 */
function checked(key: unknown): string {
  if (typeof key === 'string' && /^[\x21-\x7e]+$/.test(key)) return key
  throw new TypeError('apiKey must be a text of visible ASCII characters, without blanks or line breaks')
}
