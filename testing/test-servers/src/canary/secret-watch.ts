import type { ChildProcess } from 'node:child_process'
import { findCanaries } from './canary.ts'

/** A secret may come in two pieces, so the end of the first is searched again together with the second. */
const TAIL_CHARACTERS = 200

/** Reads the output and answers of servers while they come, and keeps only which planted secrets were in them. */
export class SecretWatch {
  readonly #tails = new Map<string, string>()
  readonly #shown = new Set<string>()
  #heardCharacters = 0

  /** Takes more text of an output. */
  hear(output: string, text: string): void {
    const joined = (this.#tails.get(output) ?? '') + text
    for (const shown of findCanaries({ [output]: joined })) this.#shown.add(shown)
    this.#tails.set(output, joined.slice(-TAIL_CHARACTERS))
    this.#heardCharacters += text.length
  }

  /** Takes all that a process prints. It must be called in the turn of its start, like any reader of its streams. */
  follow({ stdout, stderr }: ChildProcess, name: string): void {
    for (const [stream, word] of [
      [stdout, 'stdout'],
      [stderr, 'stderr'],
    ] as const) {
      if (stream === null) throw new Error(`nobody can hear the ${word} of ${name}`)
      stream.on('data', (chunk: Buffer | string) => this.hear(`${name}, ${word}`, chunk.toString('latin1')))
    }
  }

  /** The shown secrets, each with the output in which it stood. */
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

/** A secret was shown in an output. This is a bug. */
export class SecretShownError extends Error {
  override readonly name = 'SecretShownError'

  constructor(shown: readonly string[]) {
    super(`secrets are shown:\n${shown.join('\n')}`)
  }
}
