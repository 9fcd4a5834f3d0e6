import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

const BUNDLER = join(import.meta.dirname, '../../../scripts/build-functions.ts')
const BUILD_MS_MAX = 120_000

/** Builds the repository's functions as they would be deployed, each into a folder of its own. */
export async function buildBundles(into: string): Promise<void> {
  await promisify(execFile)(process.execPath, [BUNDLER, '--into', into], { timeout: BUILD_MS_MAX })
}
