/** Holds the value that a setting's text stands for, or the problem with the text, which continues after the setting's name. */
export type Parsed<Value> = { readonly value: Value } | { readonly problem: string }

/** Items between commas; an empty text has none. */
export function splitList(text: string): readonly string[] {
  return text.trim() === '' ? [] : text.split(',').map((item) => item.trim())
}
