import { join } from 'node:path'
import type { PoweredStore } from './powered-store.ts'
import { startServer } from './server-process.ts'

/** The disk is empty at first: the making of the file must survive a cut too. */
export function poweredSqlite(synchronous: 'full' | 'normal'): PoweredStore {
  return {
    name: `sqlite ${synchronous}`,
    // Each page in the log has a checksum.
    growth: 'any',
    repairs: 0,
    prepare: () => Promise.resolve(),
    start: async ({ root, variables }) => {
      const args = ['--data', join(root, 'data'), '--sqlite-synchronous', synchronous]
      const server = await startServer(args, variables)
      return { url: server.url, gone: server.gone, cut: () => server.kill() }
    },
  }
}
