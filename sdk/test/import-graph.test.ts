import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const SDK = fileURLToPath(new URL('..', import.meta.url))
const manifest: { readonly exports: Readonly<Record<string, string>> } = JSON.parse(
  readFileSync(join(SDK, 'package.json'), 'utf8'),
)
// An import of types is gone before anything is loaded.
const LOADING =
  /^(?:import|export)(?!\s+type)[^'"()]*?from '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm
const NAMING = /^(?:import|export)[^'"()]*?from '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm

/** Finds everything that loading a file loads: files of this package, and names of others. */
function findLoaded(file: string): ReadonlySet<string> {
  return findReached(file, LOADING, new Set())
}

/** Finds everything that a file names directly or through others, types included. */
function findNamed(file: string): ReadonlySet<string> {
  return findReached(file, NAMING, new Set())
}

function findReached(file: string, pattern: RegExp, found: Set<string>): ReadonlySet<string> {
  const name = relative(SDK, file)
  if (found.has(name)) return found
  found.add(name)
  const text = readFileSync(file, 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '')
  for (const match of text.matchAll(pattern)) {
    const imported = match[1] ?? match[2] ?? match[3] ?? ''
    if (imported.startsWith('.')) findReached(join(dirname(file), imported), pattern, found)
    else found.add(imported)
  }
  return found
}

/** Only one entry may load each of these files, which are named by the start of their path. */
const OWN: Readonly<Record<string, readonly string[]>> = {
  '.': ['src/client.ts', 'src/saga.ts'],
  './fastify': ['src/fastify.ts', 'src/signatures/fastify-signed-calls.ts'],
  './express': ['src/express.ts', 'src/signatures/express-signed-calls.ts'],
  './fetch': ['src/fetch.ts'],
  './signatures': ['src/signatures/signed-call-check.ts'],
  './operator': ['src/operator'],
  './telemetry': ['src/telemetry.ts'],
  './testing': ['src/testing'],
  './grouped': ['src/grouped/grouped-branch.ts', 'src/grouped/group-queue.ts', 'src/grouped/serve-group.ts'],
  './grouped/mysql': ['src/grouped/mysql'],
  './grouped/postgres': ['src/grouped/postgres'],
  './grouped/sqlite': ['src/grouped/sqlite'],
  './barrier/mysql': ['src/barrier/mysql'],
  './barrier/postgres': ['src/barrier/postgres'],
  './barrier/sqlite': ['src/barrier/sqlite'],
  './barrier/redis': ['src/barrier/redis'],
}
/** A group barrier is the plain barrier of its database and a way to run groups. */
const BUILDS_ON: Readonly<Record<string, string>> = {
  './grouped/mysql': './barrier/mysql',
  './grouped/postgres': './barrier/postgres',
  './grouped/sqlite': './barrier/sqlite',
}
/** A user brings this for an entry that does nothing without it. */
const BROUGHT: Readonly<Record<string, readonly string[]>> = { './telemetry': ['@opentelemetry/api'] }
const BUNDLED = [
  '@counterstep/protocol/barrier',
  '@counterstep/protocol',
  '@counterstep/signature',
  '@counterstep/workflow',
]

describe('the entries of the package', () => {
  it('All entries of the package are listed here, and each file belongs to one', () => {
    expect(Object.keys(manifest.exports).sort()).toEqual(Object.keys(OWN).sort())
    const loaded = new Set(
      Object.values(manifest.exports).flatMap((path) => [...findLoaded(join(SDK, path))]),
    )
    const files = readdirSync(join(SDK, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
      .map((path) => join('src', path))
    // Only the types of these files are used, and so they are not loaded.
    const typesOnly = [
      'as-json.ts',
      'branch/branch.ts',
      'barrier/barrier.ts',
      'barrier/migration.ts',
      'protocol-types.ts',
      'saga-graph.ts',
      'grouped/group-barrier.ts',
      'message/message-types.ts',
      'client-options.ts',
      'operator/command-options.ts',
      'operator/operator-types.ts',
      'options.ts',
      'setup.ts',
      'tcc/tcc-types.ts',
      'express-types.ts',
      'fastify-types.ts',
      'signatures/signed-calls-options.ts',
      'workflow/workflow-context.ts',
    ]
    expect(files.filter((file) => !loaded.has(file)).sort()).toEqual(
      typesOnly.map((path) => `src/${path}`).sort(),
    )
  })

  for (const [entry, path] of Object.entries(manifest.exports)) {
    it(`The entry ${entry} loads no driver, no framework, and nothing of another entry`, () => {
      const loaded = [...findLoaded(join(SDK, path))]
      const foreign = loaded.filter((name) => !name.startsWith('src/') && !name.startsWith('node:'))
      expect(foreign.filter((name) => !BUNDLED.includes(name))).toEqual(BROUGHT[entry] ?? [])
      const others = Object.entries(OWN).flatMap(([other, starts]) =>
        other === entry || other === BUILDS_ON[entry] ? [] : starts,
      )
      expect(loaded.filter((name) => others.some((start) => name.startsWith(start)))).toEqual([])
    })
  }

  for (const database of ['mysql', 'postgres', 'sqlite']) {
    it(`The entry ./barrier/${database} reaches its own database and the barrier, and nothing of the grouping`, () => {
      const own = `src/barrier/${database}`
      const named = [...findNamed(join(SDK, `${own}.ts`))].filter((name) => name.startsWith('src/'))
      const allowed = (name: string) =>
        name === `${own}.ts` ||
        name.startsWith(`${own}/`) ||
        /^src\/(?:barrier|branch)\/[^/]+\.ts$/.test(name)
      expect(named.filter((name) => !allowed(name))).toEqual([])
      expect(named.filter((name) => name.startsWith(`${own}/`)).length).toBeGreaterThan(3)
    })
  }
})
