/**
 * Tells whether the headers announce a body. Over HTTP/1.1 they must announce every body (RFC 9112, 6.3), and over
 * HTTP/2 they need not.
 */
export function hasBody(headers: Readonly<Record<string, unknown>>): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}
