import { tagFault } from './clean-tag.ts'
import { digestFault } from './image-digests.ts'

/** Why this checkout is not to be released, if so. */
export function releaseFault(root: string, version: string): string | undefined {
  return tagFault(root, version) ?? digestFault(root)
}
