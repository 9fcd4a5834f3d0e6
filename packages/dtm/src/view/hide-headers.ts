import { writeGoJson } from '../go-json/write-go-json.ts'

const HIDDEN = '***'
const HEADERS = 'branch_headers'

/** Replaces the values of the branch headers, which may be the services' keys. The names stay. */
export function hideHeaders(options: string): string {
  // Most transactions have no headers, so parsing each of a long list would be waste.
  if (!options.includes(`"${HEADERS}"`)) return options
  const entries = Object.entries(JSON.parse(options) as Readonly<Record<string, unknown>>)
  return writeGoJson(
    Object.fromEntries(entries.map(([name, value]) => [name, name === HEADERS ? hideValues(value) : value])),
  )
}

function hideValues(headers: unknown): unknown {
  if (typeof headers !== 'object' || headers === null) return HIDDEN
  return Object.fromEntries(Object.keys(headers).map((name) => [name, HIDDEN]))
}
