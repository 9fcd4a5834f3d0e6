import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compileShim, type Shim } from './compile-shim.ts'

export type MissingShim = Shim & { readonly type: 'missing' }

/** Runs `work` with the compiled library in a folder of its own, which is removed afterwards. Returns why there is no library, if there is none. */
export async function withShim<Result>(
  work: (folder: string, shimPath: string) => Promise<Result>,
): Promise<Result | MissingShim> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'counterstep-power-loss-')))
  try {
    const shim = await compileShim(folder)
    return shim.type === 'missing' ? shim : await work(folder, shim.path)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
