import { CounterstepError } from './errors.ts'

export interface LibraryPart {
  readonly library: string
  /** The version that is installed. */
  readonly version: string
  /** The undocumented part, as a sentence names it. */
  readonly part: string
  /** The version in which the part was read. */
  readonly readIn: string
}

/**
 * A library no longer has an undocumented part that a package relies on. The self-test that runs when a store or a server
 * opens throws it, so that a new version of the library is refused by name at the start and not noticed under load.
 */
export class LibraryChangedError extends CounterstepError {
  constructor({ library, version, part, readIn }: LibraryPart) {
    const message = `${library} ${version} cannot be used: it has changed ${part}. Install ${library} ${readIn}.`
    super('SAGA_LIBRARY_CHANGED', message)
    this.name = 'LibraryChangedError'
  }
}
