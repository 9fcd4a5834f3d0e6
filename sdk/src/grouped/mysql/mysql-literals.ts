/**
 * What no escape, no sql_mode and no charset of a connection has a say in between single quotes, and no format of the
 * user's own: printable ASCII without the quote, the backslash and what may stand for a value, `?` or a `:name`.
 */
const PLAIN = /^(?:[\w !#$%&()*+,./;<=>@[\]^`{|}~"-]|:(?!\w))*$/

/** The bytes of a text in UTF-8, as a literal: as it is where it is plain, which is half as long, else in hexadecimal digits. */
export function literal(text: string): string {
  return PLAIN.test(text) ? `'${text}'` : `x'${Buffer.from(text).toString('hex')}'`
}
