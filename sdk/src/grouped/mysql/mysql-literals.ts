const SHORT_LETTERS_MAX = 128
/** For one text at a time: a buffer for each of a group's many takes twice as long. No letter has more than three bytes. */
const scratch = Buffer.alloc(3 * SHORT_LETTERS_MAX)

/** As hexadecimal literals no escape, no sql_mode and no connection charset has a say in them. */
export function hex(text: string): string {
  const digits =
    text.length > SHORT_LETTERS_MAX
      ? Buffer.from(text).toString('hex')
      : scratch.toString('hex', 0, scratch.write(text))
  return `x'${digits}'`
}
