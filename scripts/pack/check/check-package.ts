import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { checkByTools } from './check-by-tools.ts'
import { checkContents, isCompressed } from './check-contents.ts'

const BLOCK_BYTES = 512

/** Lists the faults of a tarball that is about to be published. */
export async function checkPackage(tarball: string, root: string): Promise<readonly string[]> {
  return [...checkContents(readTarball(tarball), root), ...(await checkByTools(tarball))]
}

/** The texts of what `npm pack` wrote, by their paths in the package. */
function readTarball(path: string): ReadonlyMap<string, string> {
  const bytes = gunzipSync(readFileSync(path))
  const files = new Map<string, string>()
  let at = 0
  while (at < bytes.length) {
    const text = (from: number, length: number) =>
      bytes
        .toString('utf8', at + from, at + from + length)
        .split('\0', 1)[0]
        ?.trim() ?? ''
    const name = text(0, 100)
    // The archive ends with empty blocks.
    if (name === '') break
    const [type, prefix, size] = [text(156, 1), text(345, 155), Number.parseInt(text(124, 12), 8)]
    if (type !== '0') throw new Error(`${path} has an entry ${name} of the type "${type}"`)
    const inArchive = prefix === '' ? name : `${prefix}/${name}`
    const start = at + BLOCK_BYTES
    const inPackage = inArchive.replace(/^package\//, '')
    // A compressed file is no text. Read so, each of its bytes is one character.
    const encoding = isCompressed(inPackage) ? 'latin1' : 'utf8'
    files.set(inPackage, bytes.toString(encoding, start, start + size))
    at = start + Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES
  }
  return files
}
