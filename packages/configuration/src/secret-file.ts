import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'
import type { Parsed } from '@counterstep/branch-http/targets'

/**
 * Others have no right to the file. The group may only read it, because a secret that Kubernetes mounts belongs to root
 * and the server reads it through its group.
 */
const MODE_DENIED = 0o027
// Windows has no such bits, and Node makes them up there.
const HAS_MODES = process.platform !== 'win32'

export interface SecretFileRule {
  readonly bytesMax: number
  /** Completes the sentence about a file that is too long: `which is no …`. */
  readonly what: string
  /** Says what a stranger who reads the file can do, and what to do then. */
  readonly risk: string
}

/** Reads a file that only its owner may change, and only its owner and group may read. */
export function readSecretFile(path: string, rule: SecretFileRule): Parsed<string> {
  let descriptor: number | undefined
  try {
    // The file is opened without blocking, because a named pipe would make the process wait for its writer.
    descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    const problem = findFileProblem(descriptor, rule)
    return problem === undefined ? { value: readFileSync(descriptor, 'utf8') } : { problem }
  } catch (error: unknown) {
    if (!(error instanceof Error) || !('code' in error)) throw error
    return { problem: `names a file that cannot be read (${String(error.code)})` }
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

/** Checks the open file and not its name, so that the checked file is the one that is read. */
function findFileProblem(descriptor: number, { bytesMax, what, risk }: SecretFileRule): string | undefined {
  const stats = fstatSync(descriptor)
  if (!stats.isFile()) return 'names what is no file'
  if (stats.size > bytesMax) return `names a file over ${bytesMax} bytes, which is no ${what}`
  if (HAS_MODES && (stats.mode & MODE_DENIED) !== 0) {
    const mode = (stats.mode & 0o777).toString(8).padStart(4, '0')
    return `names a file that others may use or its group may change (mode ${mode}): ${risk}`
  }
  return undefined
}
