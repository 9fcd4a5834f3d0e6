// Not imported: an import of node:http reads each of its exports, and so loads the built-in fetch and WebSocket, too.
// That is 40 ms of every start, the cold start of a function among them.
const { STATUS_CODES } = process.getBuiltinModule('node:http')

/** HTTP's own words for a status, as "Not Found". */
export function toStatusText(status: number): string {
  return STATUS_CODES[status] ?? 'Error'
}
