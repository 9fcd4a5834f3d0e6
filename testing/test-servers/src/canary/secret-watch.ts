import type { ChildProcess } from 'node:child_process'
import { canariesIn } from './canary.ts'

/** A secret may come in two pieces: so much of the end of the first is looked at again with the second. */
const TAIL_CHARACTERS = 200

/** Hears what servers print and answer while they do, and knows which planted secrets were in it. It keeps nothing else. */
export class SecretWatch {
  readonly #tails = new Map<string, string>()
  readonly #shown = new Set<string>()
  #heardCharacters = 0

  /** More of an output. */
  hear(output: string, text: string): void {
    const joined = (this.#tails.get(output) ?? '') + text
    for (const shown of canariesIn({ [output]: joined })) this.#shown.add(shown)
    this.#tails.set(output, joined.slice(-TAIL_CHARACTERS))
    this.#heardCharacters += text.length
  }

  /** All that a process prints. To be called in the turn of its start, like everybody who reads its streams. */
  follow({ stdout, stderr }: ChildProcess, name: string): void {
    for (const [stream, word] of [
      [stdout, 'stdout'],
      [stderr, 'stderr'],
    ] as const) {
      if (stream === null) throw new Error(`nobody can hear the ${word} of ${name}`)
      stream.on('data', (chunk: Buffer | string) => this.hear(`${name}, ${word}`, chunk.toString('latin1')))
    }
  }

  /** Each by the output it stood in. */
  get shown(): readonly string[] {
    return [...this.#shown]
  }

  get heardCharacters(): number {
    return this.#heardCharacters
  }

  assertNone(): void {
    if (this.#shown.size > 0) throw new SecretShownError(this.shown)
  }
}

/** A bug: what was given in confidence stands where others read. */
export class SecretShownError extends Error {
  override readonly name = 'SecretShownError'

  constructor(shown: readonly string[]) {
    super(`secrets are shown:\n${shown.join('\n')}`)
  }
}
