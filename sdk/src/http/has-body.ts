/** Tells whether the headers tell of a body, as they must over HTTP/1.1 (RFC 9112, 6.3), and need not over HTTP/2. */
export function hasBody(headers: Readonly<Record<string, unknown>>): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}
