import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const SOURCE = fileURLToPath(new URL('./record-writes.c', import.meta.url))
const COMPILERS = ['cc', 'gcc', 'clang']
const FLAGS = ['-std=gnu17', '-O2', '-Wall', '-Wextra', '-shared', '-fPIC']

export type Shim =
  | { readonly type: 'compiled'; readonly path: string }
  | { readonly type: 'missing'; readonly reason: string }

/** Compiles the library that is preloaded, in this folder, with the C compiler of the machine. */
export async function compileShim(folder: string): Promise<Shim> {
  if (process.platform !== 'linux') return { type: 'missing', reason: 'writes are recorded on Linux only' }
  const path = join(folder, 'record-writes.so')
  for (const compiler of COMPILERS) {
    try {
      await promisify(execFile)(compiler, [...FLAGS, '-o', path, SOURCE, '-ldl'])
      return { type: 'compiled', path }
    } catch (error: unknown) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
    }
  }
  return { type: 'missing', reason: `no C compiler here (${COMPILERS.join(', ')})` }
}

/** The variables of a process whose writes below `root` are noted in `journal`. */
export function shimVariables(shimPath: string, root: string, journal: string): Record<string, string> {
  return {
    LD_PRELOAD: shimPath,
    POWER_LOSS_ROOT: root,
    POWER_LOSS_JOURNAL: journal,
    POWER_LOSS_SYNC_US: String(SYNC_US),
    POWER_LOSS_FAILING: toFailingFile(journal),
  }
}

/** Each sync fails while this file exists. */
export function toFailingFile(journal: string): string {
  return `${journal}-failing`
}

/** Long enough for most cuts to fall into a sync, as on a slow disk. */
const SYNC_US = 3_000
