/** The search part of an address: names with one text or several. */
export type SearchFields = Readonly<Record<string, string | readonly string[] | undefined>>

/** Reads `?a=1&b=2&b=3`. A name that stands there once has a text, and else a list. */
export function parseSearch(search: string): Record<string, string | string[]> {
  const fields: Record<string, string | string[]> = {}
  const parameters = new URLSearchParams(search)
  for (const name of new Set(parameters.keys())) {
    const values = parameters.getAll(name)
    fields[name] = values.length === 1 ? (values[0] ?? '') : values
  }
  return fields
}

/** Writes it back. What is empty is left out; commas and colons stay readable. */
export function stringifySearch(fields: SearchFields): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) {
    const values = typeof value === 'string' ? [value] : (value ?? [])
    for (const each of values) if (each !== '') parameters.append(name, each)
  }
  const text = parameters.toString().replaceAll('%2C', ',').replaceAll('%3A', ':').replaceAll('%2F', '/')
  return text === '' ? '' : `?${text}`
}
