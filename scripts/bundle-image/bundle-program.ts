import { join } from 'node:path'
import { build, type Metafile } from 'esbuild'
import { nameExports } from './name-exports.ts'
import { swaggerUiFolder } from './swagger-ui-folder.ts'

/** CommonJS modules use these names, and an ES module does not have them. */
const COMMONJS = [
  "import{createRequire}from'node:module'",
  'const require=createRequire(import.meta.url),__dirname=import.meta.dirname',
].join(';')

/** Writes `dist` of a program: its modules, and the chunks that they share or load when they need them. */
export async function bundleProgram(
  root: string,
  folder: string,
  modules: Readonly<Record<string, string>>,
): Promise<Metafile> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: { ...modules },
    outdir: join(folder, 'dist'),
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    splitting: true,
    // Identifiers stay: without a source map they are what a stack trace has.
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none',
    banner: { js: `${COMMONJS};` },
    plugins: [swaggerUiFolder, nameExports],
    metafile: true,
    logLevel: 'warning',
  })
  return metafile
}
