import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

const BUNDLER = join(import.meta.dirname, '../../../scripts/build-functions.ts')
const BUILD_MS_MAX = 120_000

/** Into a folder for each function: what would be deployed. */
export async function buildBundles(into: string): Promise<void> {
  await promisify(execFile)(process.execPath, [BUNDLER, '--into', into], { timeout: BUILD_MS_MAX })
}
