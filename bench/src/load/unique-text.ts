/** Makes the text that replaces a job's `unique` in one request. Connections and requests count from 1. */
export function uniqueText(unique: string, connection: number, request: number): string {
  return `${unique}-${connection}-${request}`
}
