/** Whether a request has a body (RFC 9112, 6.3). */
export function hasBody(headers: Readonly<Record<string, unknown>>): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}
