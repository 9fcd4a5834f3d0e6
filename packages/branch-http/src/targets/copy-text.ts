/**
 * Copies a text. A URL is often a slice of a whole request, and V8 keeps all of a text for as long as one slice of it is kept, also in a
 * `URL` that was made of it. So what remembers URLs keeps copies.
 */
export function copyText(text: string): string {
  return Buffer.from(text).toString()
}
