/** Holds the value of a setting's text, or the problem with the text, which is put behind the setting's name. */
export type Parsed<Value> = { readonly value: Value } | { readonly problem: string }

/** Returns the items between commas. An empty text has none. */
export function splitList(text: string): readonly string[] {
  return text.trim() === '' ? [] : text.split(',').map((item) => item.trim())
}
