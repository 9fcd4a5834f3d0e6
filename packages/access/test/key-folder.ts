import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface KeyFolder extends AsyncDisposable {
  /** No file exists at this path yet. */
  readonly path: string
}

export async function makeKeyFolder(): Promise<KeyFolder> {
  const folder = await mkdtemp(join(tmpdir(), 'counterstep-keys-'))
  return {
    path: join(folder, 'keys.json'),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}
