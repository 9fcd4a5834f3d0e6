const texts = new WeakMap<object, string>()

/** Writes a view as JSON once, however many callers are sent the same view. It must not change. */
export function toSharedJson(view: object): string {
  const known = texts.get(view)
  if (known !== undefined) return known
  const text = JSON.stringify(view)
  texts.set(view, text)
  return text
}
