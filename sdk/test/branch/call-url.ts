/** The request target of a call with these query parameters. */
export function callUrl(query: Readonly<Record<string, string>>): string {
  return `/branch?${new URLSearchParams(query)}`
}
