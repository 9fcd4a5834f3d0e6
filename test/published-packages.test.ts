import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkContents, UNPACKED_BYTES_MAX } from '../scripts/pack/check/check-contents.ts'
import { isOurs, PUBLIC_PACKAGES, publications } from '../scripts/pack/public-packages.ts'
import { publishedDocuments } from '../scripts/pack/published-documents.ts'
import { workspaceFolders } from '../scripts/pack/workspace-folders.ts'
import { manifestIn } from '../scripts/pack/workspace-manifest.ts'
import { distTag } from '../scripts/release/publish-tarball.ts'
import { REPOSITORY } from './source-tree.ts'

/** Of those in `packages`, what only this repository needs, or only the SDK, which carries it. */
const KEPT = ['barrier', 'lambda-emulator', 'simulator', 'store-conformance', 'test-servers']

describe('the public packages', () => {
  const workspaces = workspaceFolders(REPOSITORY).map((folder) => manifestIn(REPOSITORY, folder))
  const names = workspaces.map(({ name }) => name)

  it('are all packages but those that are kept, and the SDK', () => {
    const packages = workspaceFolders(REPOSITORY).filter((folder) => folder.startsWith('packages/'))
    const wanted = packages.filter((folder) => !KEPT.includes(folder.replace('packages/', '')))
    expect(PUBLIC_PACKAGES.map(({ folder }) => folder).sort()).toEqual([...wanted, 'sdk'].sort())
  })

  it('cannot be published from their sources', () => {
    expect(workspaces.filter((manifest) => manifest.private !== true)).toEqual([])
  })

  it('have the version of every workspace, and of the root', () => {
    const versions = [manifestIn(REPOSITORY, '.'), ...workspaces].map(({ version }) => version)
    expect(new Set(versions).size).toBe(1)
  })

  it('come after those that they need', () => {
    const order = publications(REPOSITORY).map(({ name }) => name)
    const early = publications(REPOSITORY).flatMap(({ name, manifest }) =>
      Object.keys(manifest.dependencies ?? {})
        .filter((needed) => isOurs(needed) && order.indexOf(needed) > order.indexOf(name))
        .map((needed) => `${name} before ${needed}`),
    )
    expect(early).toEqual([])
  })

  it('are in one fixed group of changesets, and every changeset names a workspace', () => {
    const folder = join(REPOSITORY, '.changeset')
    const config = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'))
    expect(config.fixed).toEqual([['counterstep', '@counterstep/*']])
    expect(names.filter((name) => !isOurs(name))).toEqual([])
    const named = readdirSync(folder)
      .filter((file) => file.endsWith('.md'))
      .flatMap((file) => [...readFileSync(join(folder, file), 'utf8').matchAll(/^["'](.+)["']: /gm)])
      .map(([, name = '']) => name)
    expect(named.filter((name) => !names.includes(name))).toEqual([])
  })

  it('carry every document that theirs lead to', () => {
    for (const each of PUBLIC_PACKAGES) expect(() => publishedDocuments(REPOSITORY, each)).not.toThrow()
  })

  it('are the newest of their name only as a release', () => {
    expect([distTag('1.2.3'), distTag('1.2.3-rc.1')]).toEqual(['latest', 'next'])
  })
})

describe('the check of a package', () => {
  const manifest = {
    name: 'a',
    bin: { a: 'dist/main.js' },
    exports: {
      '.': { types: './dist/index.d.ts', default: './dist/index.js' },
      './package.json': './package.json',
    },
    dependencies: { fastify: '5.12.8' },
  }
  const SOUND = {
    'package.json': JSON.stringify(manifest),
    'README.md': '[the guide](docs/guide.md#part), [web](https://example.com)\n',
    'docs/guide.md': '[back](../README.md)\n',
    LICENSE: 'MIT\n',
    'dist/main.js': '#!/usr/bin/env node\nimport "./index.js"\n',
    'dist/index.js': 'import { readFileSync } from "node:fs"\nimport fastify from "fastify"\n',
    'dist/index.d.ts': 'export type { A } from "./types-only.js"\n',
    'dist/types-only.d.ts': 'export interface A {}\n',
  }
  const check = (more: Readonly<Record<string, string>>) =>
    checkContents(new Map(Object.entries({ ...SOUND, ...more })), REPOSITORY)
  const changed = (more: object) => ({ 'package.json': JSON.stringify({ ...manifest, ...more }) })

  it('is content with a sound one', () => expect(check({})).toEqual([]))

  for (const [name, more, fault] of [
    ['a source', { 'dist/index.ts': '' }, 'dist/index.ts is of no use to a user'],
    ['a test', { 'dist/index.test.js': '' }, 'dist/index.test.js is of no use to a user'],
    ['a folder of tests', { 'dist/test/a.js': '' }, 'dist/test/a.js is of no use to a user'],
    ['a map', { 'dist/index.js.map': '' }, 'dist/index.js.map is of no use to a user'],
    [
      'the path of a machine',
      { 'dist/index.js': `const from = '${REPOSITORY}/x'\n` },
      'dist/index.js names a machine, or a source that is not there',
    ],
    [
      'a link to a map',
      { 'dist/index.js': '//# sourceMappingURL=index.js.map\n' },
      'dist/index.js names a machine, or a source that is not there',
    ],
    [
      'a registry',
      { 'README.md': 'https://registry.example/a\n' },
      'README.md names a machine, or a source that is not there',
    ],
    [
      'an import of what is not declared',
      { 'dist/index.js': 'import "mysql2/promise"\n' },
      'dist/index.js imports mysql2/promise, which it may not find',
    ],
    [
      'an import of what is not there',
      { 'dist/index.d.ts': 'export type { B } from "./b.js"\n' },
      'dist/index.d.ts imports ./b.js, which it may not find',
    ],
    [
      'a link that leads nowhere',
      { 'docs/guide.md': '[x](x.md)\n' },
      'docs/guide.md links to x.md, which is missing',
    ],
    [
      'a command without a first line',
      { 'dist/main.js': 'import "./index.js"\n' },
      'dist/main.js is a command that no shell can start',
    ],
    ['a private manifest', changed({ private: true }), 'package.json has "private"'],
    ['scripts', changed({ scripts: { install: 'x' } }), 'package.json has "scripts"'],
    ['a range', changed({ dependencies: { fastify: '^5' } }), 'fastify is wanted as ^5, not in one version'],
    [
      'an entry that is not there',
      changed({ exports: { './more': './dist/more.js' } }),
      'package.json names dist/more.js, which is missing',
    ],
    [
      'too much',
      { 'docs/guide.md': 'x'.repeat(UNPACKED_BYTES_MAX) },
      expect.stringContaining(`${UNPACKED_BYTES_MAX} is the most`),
    ],
  ] as const) {
    it(`finds ${name}`, () => expect(check(more)).toEqual([fault]))
  }

  it('finds what is missing', () => {
    const { LICENSE: _, ...rest } = SOUND
    expect(checkContents(new Map(Object.entries(rest)), REPOSITORY)).toEqual(['LICENSE is missing'])
  })
})
