import { CounterstepError } from './errors.ts'

export interface LibraryPart {
  readonly library: string
  /** This version is installed. */
  readonly version: string
  /** It names the undocumented part, in words that fit into a sentence. */
  readonly part: string
  /** The part was read in this version. */
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
