import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

const BUNDLER = join(import.meta.dirname, '../../../../scripts/build-functions.ts')

/** Into a folder for each function: what would be deployed. */
export async function buildBundles(into: string, timeoutMs: number): Promise<void> {
  await promisify(execFile)(process.execPath, [BUNDLER, '--into', into], { timeout: timeoutMs })
}
