import type { ErrorCode } from '@counterstep/protocol'

export type Fields = Readonly<Record<string, unknown>>

const FAULTS_MAX = 20

export function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Collects what is wrong with a file, by the codes and pointers that a request would be refused with. */
export class FileFaults {
  readonly #texts: string[] = []

  get isEmpty(): boolean {
    return this.#texts.length === 0
  }

  add(code: ErrorCode, path: string, message: string): void {
    if (this.#texts.length < FAULTS_MAX)
      this.#texts.push(`${code} at ${path === '' ? 'its top' : path}: ${message}`)
  }

  /** A misspelt field would be ignored silently. Its name is not quoted, since a secret may stand in its place. */
  refuseUnknown(value: Fields, known: readonly string[], path: string): void {
    const unknown = Object.keys(value).filter((name) => !known.includes(name)).length
    if (unknown > 0) this.add('SAGA_UNKNOWN_FIELD', path, `has a field that is none of ${known.join(', ')}`)
  }

  describe(): string {
    return this.#texts.join('; ')
  }
}
