import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

/** This is a folder of this test file's own, removed with all its files after the last test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'counterstep-'))
  afterAll(() => rm(folder, { recursive: true, force: true }))
  return folder
}
