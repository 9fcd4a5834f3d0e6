// `node:http` is not imported, because an import reads each of its exports and so loads the built-in fetch and
// WebSocket as well. That takes 40 ms of every start, also of the cold start of a function.
const { STATUS_CODES } = process.getBuiltinModule('node:http')

/** Returns the text that HTTP has for a status, such as "Not Found". */
export function toStatusText(status: number): string {
  return STATUS_CODES[status] ?? 'Error'
}
