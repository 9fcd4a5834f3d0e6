/**
 * Copies a text. A part of a text, such as a URL of a request or a trimmed value, keeps the whole text in memory in V8 for as long
 * as the part is kept, also in a `URL` that was made of it. So what remembers texts of others keeps copies.
 */
export function copyText(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string
}
