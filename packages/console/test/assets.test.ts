import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { COMPRESSED_BYTES_MIN } from '../build/compress-files.ts'
import { consoleDirectory } from '../build/console-directory.ts'
import { readBuiltFile } from './read-built-file.ts'

const SCRIPT_BYTES_MAX = 150 * 1_024
const STYLE_BYTES_MAX = 12 * 1_024
const GRAPH_BYTES_MAX = 25 * 1_024

describe('the built console', () => {
  let folder = ''
  let page = ''
  let stored: readonly string[] = []
  let names: readonly string[] = []

  beforeAll(async () => {
    folder = await consoleDirectory()
    page = readFileSync(join(folder, 'index.html'), 'utf8')
    stored = readdirSync(join(folder, 'assets'))
    names = stored.map((name) => name.replace(/\.gz$/, '')).filter((name) => /\.(?:js|css)$/.test(name))
  }, 120_000)

  const read = (name: string) => String(readBuiltFile(join(folder, 'assets', name)))
  const measure = (some: Iterable<string>) =>
    [...some].reduce((sum, name) => sum + gzipSync(read(name)).length, 0)

  /** A file and all that it imports before it runs. */
  function listImports(name: string, seen = new Set<string>()): ReadonlySet<string> {
    if (seen.has(name)) return seen
    seen.add(name)
    for (const [, imported] of read(name).matchAll(/(?:from|import)\s*["']\.\/([^"']+\.js)["']/g)) {
      listImports(imported ?? '', seen)
    }
    return seen
  }

  function findFile(start: string, ending: string): string {
    const found = names.filter((name) => name.startsWith(`${start}-`) && name.endsWith(ending))
    expect(found, `${start}…${ending}`).toHaveLength(1)
    return found[0] ?? ''
  }

  const readEntry = () => /<script type="module"[^>]* src="\.\/assets\/([^"]+)"/.exec(page)?.[1] ?? ''

  it('The first screen stays within its budget of script and style', () => {
    for (const screen of ['overview', 'list', 'transaction']) {
      const scripts = listImports(findFile(screen, '.js'), new Set(listImports(readEntry())))
      expect(scripts.size, screen).toBeGreaterThan(1)
      expect(measure(scripts), screen).toBeLessThan(SCRIPT_BYTES_MAX)
      const styles = [...page.matchAll(/href="\.\/assets\/([^"]+\.css)"/g)].map(([, name]) => name ?? '')
      expect(measure([...styles, findFile(screen, '.css')]), screen).toBeLessThan(STYLE_BYTES_MAX)
    }
  })

  it('The graph and the charts are loaded when they are wanted', () => {
    const first = listImports(findFile('transaction', '.js'), new Set(listImports(readEntry())))
    const graph = findFile('graph', '.js')
    expect(first.has(graph)).toBe(false)
    expect(measure([graph])).toBeLessThan(GRAPH_BYTES_MAX)
    expect(listImports(findFile('overview', '.js')).has(findFile('time-series', '.js'))).toBe(false)
  })

  it('The page has no inline script or style, and no address that a prefix would break', () => {
    expect(page).not.toMatch(/<style|style=|<script(?![^>]*\bsrc=)/)
    const addresses = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address)
    expect(addresses.length).toBeGreaterThan(2)
    for (const address of addresses) expect(address).toMatch(/^\.\//)
    for (const name of names.filter((each) => each.endsWith('.css')))
      expect(read(name)).not.toMatch(/url\(|@import/)
  })

  it('A file that is worth it is stored compressed, each file once, and none has a source map', () => {
    expect(new Set(names).size).toBe(names.length)
    // The server knows the types of these alone.
    for (const name of stored) expect(name).toMatch(/\.(?:css|html|js|svg)(?:\.gz)?$/)
    for (const name of names) {
      const isLarge = Buffer.byteLength(read(name)) >= COMPRESSED_BYTES_MIN
      expect([name, stored.includes(`${name}.gz`)]).toEqual([name, isLarge])
      expect(read(name)).not.toContain('sourceMappingURL')
    }
  })

  it('A second look builds nothing anew', async () => {
    expect(await consoleDirectory()).toBe(folder)
  })
})
