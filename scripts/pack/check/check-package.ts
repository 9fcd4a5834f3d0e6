import { checkByTools } from './check-by-tools.ts'
import { checkContents } from './check-contents.ts'
import { readTarball } from './read-tarball.ts'

/** Lists the faults of a tarball that is about to be published. */
export async function checkPackage(tarball: string, root: string): Promise<readonly string[]> {
  return [...checkContents(readTarball(tarball), root), ...(await checkByTools(tarball))]
}
