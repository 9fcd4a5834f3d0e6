const SHORT_LETTERS_MAX = 128
/**
 * A buffer that is used for one text at a time, since a new one for each of a group's many texts takes twice as long.
 * No letter has more than three bytes.
 */
const scratch = Buffer.alloc(3 * SHORT_LETTERS_MAX)

/** Writes a text as a hexadecimal literal, which no escape, `sql_mode` or connection charset can change. */
export function hex(text: string): string {
  const digits =
    text.length > SHORT_LETTERS_MAX
      ? Buffer.from(text).toString('hex')
      : scratch.toString('hex', 0, scratch.write(text))
  return `x'${digits}'`
}
