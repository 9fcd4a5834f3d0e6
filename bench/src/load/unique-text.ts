/** What stands in a request in place of a job's `unique`. Connections and requests count from 1. */
export function uniqueText(unique: string, connection: number, request: number): string {
  return `${unique}-${connection}-${request}`
}
