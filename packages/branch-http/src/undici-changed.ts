import { LibraryChangedError } from '@counterstep/protocol'
import undici from 'undici/package.json' with { type: 'json' }

/** The version in which the undocumented parts that are used were read. */
const READ_IN = '8.12.4'

/** Makes the error for a part of undici that no longer works as it did. */
export function undiciChanged(part: string): LibraryChangedError {
  return new LibraryChangedError({ library: 'undici', version: undici.version, part, readIn: READ_IN })
}
