import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'

const ROOT = join(import.meta.dirname, '../../..')
const TEMPORARY = join(ROOT, '.tmp')
const NODE = 'testing/chaos/src/crash-points'
/** CommonJS modules use `require`, and an ES module does not have it. */
const REQUIRE =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);"

export interface BundledNode {
  readonly program: string
  remove(): void
}

/**
 * The node of the crash points in one module, since it starts hundreds of times: of six hundred modules each start would
 * take half as much CPU time again.
 */
export async function bundleNode(): Promise<BundledNode> {
  mkdirSync(TEMPORARY, { recursive: true })
  const outdir = mkdtempSync(join(TEMPORARY, 'crash-node-'))
  const remove = () => rmSync(outdir, { recursive: true, force: true })
  try {
    await build({
      absWorkingDir: ROOT,
      entryPoints: {
        node: `${NODE}/node.ts`,
        // These are found by their names beside the module that loads them.
        'crashing-driver': `${NODE}/crashing-driver.ts`,
        'sqlite-worker': 'packages/store-sqlite/src/sqlite-worker.ts',
        'sqlite-reader': 'packages/store-sqlite/src/sqlite-reader.ts',
      },
      outdir,
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      target: 'node24',
      // A page that the node does not have.
      external: ['@fastify/swagger', '@fastify/swagger-ui'],
      banner: { js: REQUIRE },
      logLevel: 'warning',
    })
  } catch (error: unknown) {
    remove()
    throw error
  }
  return { program: join(outdir, 'node.js'), remove }
}
