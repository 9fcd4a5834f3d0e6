/**
 * Finds where in a JSON text the values of some pointers (RFC 6901) stand. A value is returned as the text that it has
 * there, so that a number keeps all its digits, which JSON.parse does not promise.
 */
import { findStringEnd } from '@counterstep/protocol'

interface PointerTree {
  /** The positions, in the list of pointers, of those that end here. */
  readonly ends: number[]
  /** The positions of those that end here or lead through here. */
  readonly through: number[]
  readonly steps: Map<string, PointerTree>
}

/**
 * Returns for each pointer the text of its value, or null where the text has none. The text is read once for all pointers,
 * because an answer of 64 KiB with 200 deep pointers would otherwise be read thousands of times. A name that an object
 * has twice means its last value, as for JSON.parse. A text that is no JSON has no values.
 */
export function findJsonValues(text: string, pointers: readonly string[]): readonly (string | null)[] {
  const found: (string | null)[] = pointers.map(() => null)
  if (isJson(text)) new JsonReader(text, found).read(toPointerTree(pointers))
  return found
}

/** Splits a pointer into its steps. Returns undefined for a text that is not a pointer. */
export function readPointer(pointer: string): readonly string[] | undefined {
  if (pointer === '') return []
  if (!pointer.startsWith('/') || /~(?![01])/.test(pointer)) return undefined
  return pointer
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function toPointerTree(pointers: readonly string[]): PointerTree {
  const root: PointerTree = { ends: [], through: [], steps: new Map() }
  for (const [position, pointer] of pointers.entries()) {
    let tree = root
    for (const step of readPointer(pointer) ?? []) {
      let next = tree.steps.get(step)
      if (next === undefined) {
        next = { ends: [], through: [], steps: new Map() }
        tree.steps.set(step, next)
      }
      next.through.push(position)
      tree = next
    }
    tree.ends.push(position)
  }
  return root
}

/** Reads a text that is known to be JSON. It goes no deeper than the pointers do. */
class JsonReader {
  readonly #text: string
  readonly #found: (string | null)[]
  #at = 0

  constructor(text: string, found: (string | null)[]) {
    this.#text = text
    this.#found = found
  }

  /** Reads one value and stores what the tree asks for. */
  read(tree: PointerTree): void {
    this.#skipSpace()
    const start = this.#at
    const first = this.#text[start]
    if (tree.steps.size > 0 && first === '{') this.#readObject(tree)
    else if (tree.steps.size > 0 && first === '[') this.#readArray(tree)
    else this.#skipValue()
    for (const position of tree.ends) this.#found[position] = this.#text.slice(start, this.#at)
  }

  #readObject(tree: PointerTree): void {
    this.#readItems('}', () => {
      const start = this.#at
      this.#skipString()
      const next = tree.steps.get(JSON.parse(this.#text.slice(start, this.#at)) as string)
      this.#skipSpace()
      this.#at++ // the colon
      this.#readOrSkip(next)
    })
  }

  #readArray(tree: PointerTree): void {
    let index = 0
    this.#readItems(']', () => this.#readOrSkip(tree.steps.get(String(index++))))
  }

  /** Calls `readItem` at the start of each item, and ends behind the closing bracket. */
  #readItems(closing: string, readItem: () => void): void {
    do {
      this.#at++ // the opening bracket, or a comma
      this.#skipSpace()
      if (this.#text[this.#at] === closing) break
      readItem()
      this.#skipSpace()
    } while (this.#text[this.#at] === ',')
    this.#at++
  }

  #readOrSkip(tree: PointerTree | undefined): void {
    if (tree === undefined) {
      this.#skipSpace()
      this.#skipValue()
      return
    }
    // An object may have a name twice, and its last value may lack what the first one had. A hostile answer may repeat a
    // name ten thousand times, so this must cost no more than there are pointers.
    for (const position of tree.through) this.#found[position] = null
    this.read(tree)
  }

  /** Skips a value of any depth without recursion, since a hostile answer may be nested thousands deep. */
  #skipValue(): void {
    let depth = 0
    do {
      const unit = this.#text[this.#at]
      if (unit === '"') this.#skipString()
      else if (unit === '{' || unit === '[') {
        depth++
        this.#at++
      } else if (unit === '}' || unit === ']') {
        depth--
        this.#at++
      } else if (depth > 0) this.#at++
      else this.#skipScalar()
    } while (depth > 0)
  }

  #skipString(): void {
    this.#at = findStringEnd(this.#text, this.#at) + 1
  }

  #skipScalar(): void {
    while (this.#at < this.#text.length && !' \t\n\r,]}'.includes(this.#text[this.#at] as string)) this.#at++
  }

  #skipSpace(): void {
    while (this.#at < this.#text.length && ' \t\n\r'.includes(this.#text[this.#at] as string)) this.#at++
  }
}
