/** As hexadecimal literals no escape, no sql_mode and no connection charset has a say in them. */
export function hex(text: string): string {
  return `x'${Buffer.from(text).toString('hex')}'`
}
