import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

const REPOSITORY = join(import.meta.dirname, '../../../..')

/** This is a page of `docs/guides`. Tests run its programs and compare what they print with what the page says. */
export class Guide {
  readonly text: string
  readonly #page: string

  /** The name is the one of the file, without `.md`. */
  constructor(name: string) {
    this.#page = `docs/guides/${name}.md`
    this.text = readFileSync(join(REPOSITORY, this.#page), 'utf8')
  }

  /** Returns the code after the fence with this word, or these words: `text`, `ts app.ts`. Throws if there is none. */
  readBlock(words: string): string {
    const block = this.text.split(`\n\`\`\`${words}\n`)[1]?.split(/^```$/m)[0]
    if (block === undefined) throw new Error(`${this.#page} has no block "${words}"`)
    return block
  }

  /** Writes the named programs, which are blocks such as `ts app.ts`, into a new folder, and returns its path. */
  writePrograms(...names: readonly string[]): string {
    const folder = createProgramFolder()
    for (const name of names) writeFileSync(join(folder, name), this.readBlock(`ts ${name}`))
    return folder
  }
}

/**
 * Makes a folder within the repository, where programs can import the packages. The folder is removed after the test that
 * is running.
 */
export function createProgramFolder(): string {
  const parent = join(REPOSITORY, '.tmp')
  mkdirSync(parent, { recursive: true })
  const folder = mkdtempSync(join(parent, 'guide-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
