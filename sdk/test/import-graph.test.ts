import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const SDK = fileURLToPath(new URL('..', import.meta.url))
const manifest: { readonly exports: Readonly<Record<string, string>> } = JSON.parse(
  readFileSync(join(SDK, 'package.json'), 'utf8'),
)
// A type is no import: it is gone before anything is loaded.
const IMPORT =
  /^(?:import|export)(?!\s+type)[^'"()]*?from '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm

/** Everything that loading a file loads: files of this package, and names of others. */
function loadedBy(file: string, found = new Set<string>()): ReadonlySet<string> {
  const name = relative(SDK, file)
  if (found.has(name)) return found
  found.add(name)
  const text = readFileSync(file, 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '')
  for (const match of text.matchAll(IMPORT)) {
    const imported = match[1] ?? match[2] ?? match[3] ?? ''
    if (imported.startsWith('.')) loadedBy(join(dirname(file), imported), found)
    else found.add(imported)
  }
  return found
}

/** What only one entry may load, by the start of its path. */
const OWN: Readonly<Record<string, readonly string[]>> = {
  '.': ['src/client.ts', 'src/saga.ts'],
  './fastify': ['src/fastify.ts', 'src/signatures/fastify-signed-calls.ts'],
  './express': ['src/express.ts', 'src/signatures/express-signed-calls.ts'],
  './fetch': ['src/fetch.ts'],
  './signatures': ['src/signatures/signed-call-check.ts'],
  './testing': ['src/testing'],
  './grouped': ['src/grouped/grouped-branch.ts', 'src/grouped/group-queue.ts', 'src/grouped/serve-group.ts'],
  './barrier/mysql': ['src/barrier/mysql', 'src/grouped/mysql'],
  './barrier/postgres': ['src/barrier/postgres', 'src/grouped/postgres'],
  './barrier/sqlite': ['src/barrier/sqlite', 'src/grouped/sqlite'],
  './barrier/redis': ['src/barrier/redis'],
}
const BUNDLED = ['@counterstep/protocol/barrier', '@counterstep/protocol', '@counterstep/signature']

describe('the entries of the package', () => {
  it('are all here, and each file belongs to one', () => {
    expect(Object.keys(manifest.exports).sort()).toEqual(Object.keys(OWN).sort())
    const loaded = new Set(Object.values(manifest.exports).flatMap((path) => [...loadedBy(join(SDK, path))]))
    const files = readdirSync(join(SDK, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
      .map((path) => join('src', path))
    // Of these only the types are used, and so nothing is loaded.
    const typesOnly = [
      'branch/branch.ts',
      'barrier/barrier.ts',
      'barrier/migration.ts',
      'protocol-types.ts',
      'grouped/group-barrier.ts',
      'message/message-types.ts',
      'options.ts',
      'setup.ts',
      'tcc/tcc-types.ts',
      'transport/exchange.ts',
      'express-types.ts',
      'fastify-types.ts',
      'signatures/signed-calls-options.ts',
    ]
    expect(files.filter((file) => !loaded.has(file)).sort()).toEqual(
      typesOnly.map((path) => `src/${path}`).sort(),
    )
  })

  for (const [entry, path] of Object.entries(manifest.exports)) {
    it(`${entry} loads no driver, no framework, and nothing of another entry`, () => {
      const loaded = [...loadedBy(join(SDK, path))]
      const foreign = loaded.filter((name) => !name.startsWith('src/') && !name.startsWith('node:'))
      expect(foreign.filter((name) => !BUNDLED.includes(name))).toEqual([])
      const others = Object.entries(OWN).flatMap(([other, starts]) => (other === entry ? [] : starts))
      expect(loaded.filter((name) => others.some((start) => name.startsWith(start)))).toEqual([])
    })
  }
})
