export type Read<Value> = { readonly value: Value } | { readonly problem: string }

/** Items between commas; an empty text has none. */
export function splitList(text: string): readonly string[] {
  return text.trim() === '' ? [] : text.split(',').map((item) => item.trim())
}
