/** Makes the id of a job of a random token of hex digits. It has letters alone, since it is part of a document's category. */
export function newJobId(token: string): string {
  return [...token.slice(-16)].map((digit) => String.fromCharCode(97 + Number.parseInt(digit, 16))).join('')
}
