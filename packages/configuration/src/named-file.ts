import { readFileSync } from 'node:fs'
import type { Parsed } from '@counterstep/branch-http/targets'

/** Reads the text of a small file that a setting names. */
export function readNamedFile(path: string): Parsed<string> {
  try {
    return { value: readFileSync(path, 'utf8') }
  } catch (error: unknown) {
    if (!(error instanceof Error) || !('code' in error)) throw error
    return { problem: `names a file that cannot be read (${String(error.code)})` }
  }
}
