import { writeGoJson } from '../go-json/write-go-json.ts'

const HIDDEN = '***'
const HEADERS = 'branch_headers'

/** The options with the names of the branch headers and without their values, which may be keys of the branches. */
export function hideHeaders(options: string): string {
  // Most transactions have none, and a list has many transactions.
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
