import { join } from 'node:path'
import { build, type Metafile, type Plugin } from 'esbuild'
import { carriedConsole } from './console-site.ts'
import { swaggerUiFolder } from './swagger-ui-folder.ts'

/** CommonJS modules use these names, and an ES module does not have them. A module of the bundle may import the function itself. */
const COMMONJS = [
  "import{createRequire as createBundleRequire}from'node:module'",
  'const require=createBundleRequire(import.meta.url),__dirname=import.meta.dirname',
].join(';')
/** The exports that are used of these packages by a module that loads them late. */
const LATE_EXPORTS: Readonly<Record<string, string>> = {
  '@fastify/swagger': 'fastifySwagger',
  '@fastify/swagger-ui': 'fastifySwaggerUi',
}

/** Node finds the names of a CommonJS module that is loaded late, where a bundle would have its default alone. */
const nameExports: Plugin = {
  name: 'name-exports',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^@fastify\/(swagger|swagger-ui)$/ }, ({ kind, path, resolveDir }) =>
      kind === 'dynamic-import' ? { path, namespace: 'named', pluginData: resolveDir } : undefined,
    )
    onLoad({ filter: /^/, namespace: 'named' }, ({ path, pluginData: resolveDir }) => ({
      contents: `export { ${LATE_EXPORTS[path]} } from '${path}'`,
      resolveDir,
    }))
  },
}

/** Writes `dist` of a program: its modules, and the chunks that they share or load when they need them. */
export async function bundleProgram(
  root: string,
  folder: string,
  modules: Readonly<Record<string, string>>,
  console: Plugin = carriedConsole,
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
    plugins: [swaggerUiFolder, nameExports, console],
    metafile: true,
    logLevel: 'warning',
  })
  return metafile
}
