import { checkByTools } from './check-by-tools.ts'
import { checkContents } from './check-contents.ts'
import { readTarball } from './read-tarball.ts'

/** What is wrong with a tarball that is about to be published. */
export async function checkPackage(tarball: string, root: string): Promise<readonly string[]> {
  return [...checkContents(readTarball(tarball), root), ...(await checkByTools(tarball))]
}
