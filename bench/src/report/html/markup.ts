/** Text that is safe in a page as it is. Only `html` makes it, so that nothing gets into a page unescaped. */
export class Markup {
  readonly #text: string

  private constructor(text: string) {
    this.#text = text
  }

  toString(): string {
    return this.#text
  }

  /** A template; what is put into it is escaped, unless it is markup itself. */
  static html(texts: TemplateStringsArray, ...values: readonly Insert[]): Markup {
    return new Markup(texts.reduce((page, text, index) => page + markedUp(values[index - 1] ?? '') + text))
  }
}

type Insert = string | number | Markup | readonly Markup[]

export const html = Markup.html

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function markedUp(value: Insert): string {
  if (value instanceof Markup) return value.toString()
  if (typeof value === 'object') return value.join('\n')
  return String(value).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
}
