import { join } from 'node:path'
import type { EmbeddingAppArguments } from './embedding-app.ts'
import { OwnProcess } from './own-process.ts'
import type { CounterstepSpec } from './start-counterstep.ts'

/** The HTTP API of Counterstep within an app is below this path. */
export const EMBEDDED_PREFIX = '/counterstep'

const APP = join(import.meta.dirname, 'embedding-app.ts')

interface EmbeddingAppSpec extends Omit<CounterstepSpec, 'flags'> {
  readonly keysFile: string
  readonly bankUrl: string
}

/** Starts an app that has Counterstep within it, and waits until it is ready. */
export function startEmbeddingApp(spec: EmbeddingAppSpec): Promise<OwnProcess> {
  const { index, logFolder, store, port, keysFile, bankUrl } = spec
  const given: EmbeddingAppArguments = { port, keysFile, bankUrl, store: String(store.flags.store) }
  return OwnProcess.start({
    name: `server-${index}`,
    args: [APP, JSON.stringify(given)],
    log: join(logFolder, `server-${index}.log`),
    readyUrl: `http://127.0.0.1:${port}${EMBEDDED_PREFIX}/health/ready`,
  })
}
