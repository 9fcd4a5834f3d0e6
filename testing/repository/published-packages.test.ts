import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { checkContents, UNPACKED_BYTES_MAX } from '../../scripts/pack/check/check-contents.ts'
import { isOurs, PUBLIC_PACKAGES, publications } from '../../scripts/pack/public-packages.ts'
import { publishedDocuments } from '../../scripts/pack/published-documents.ts'
import { indentByTabs } from '../../scripts/pack/short-indents.ts'
import { withoutComments } from '../../scripts/pack/without-comments.ts'
import { workspaceFolders } from '../../scripts/pack/workspace-folders.ts'
import { manifestIn } from '../../scripts/pack/workspace-manifest.ts'
import { distTag } from '../../scripts/release/publish-tarball.ts'
import { REPOSITORY } from './source-tree.ts'

describe('the public packages', () => {
  const workspaces = workspaceFolders(REPOSITORY).map((folder) => manifestIn(REPOSITORY, folder))
  const names = workspaces.map(({ name }) => name)

  it('Two packages are public: what runs transactions, and what services install', () => {
    expect(publications(REPOSITORY).map(({ name }) => name)).toEqual(['@counterstep/sdk', 'counterstep'])
  })

  it('No workspace can be published from its sources', () => {
    expect(workspaces.filter((manifest) => manifest.private !== true)).toEqual([])
  })

  it('Every workspace and the root have one version', () => {
    const versions = [manifestIn(REPOSITORY, '.'), ...workspaces].map(({ version }) => version)
    expect(new Set(versions).size).toBe(1)
  })

  it('Modules that are loaded by their paths are there', () => {
    const named = PUBLIC_PACKAGES.flatMap(({ loadedByPath = [] }) => loadedByPath)
    expect(named.filter((path) => !existsSync(join(REPOSITORY, path)))).toEqual([])
  })

  it('All workspaces are in one fixed group of changesets, and every changeset names a workspace', () => {
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

  it('The public packages carry every document that theirs lead to', () => {
    for (const each of PUBLIC_PACKAGES) expect(() => publishedDocuments(REPOSITORY, each)).not.toThrow()
  })

  it('A path of a document that a public package names is in it, or in the package that the text names', () => {
    const carried = new Map(PUBLIC_PACKAGES.map((each) => [each.name, publishedDocuments(REPOSITORY, each)]))
    for (const [own, documents] of carried) {
      for (const text of documents.values()) {
        const named = [...text.matchAll(/`(docs\/[a-z/-]+\.md)`(?: of the package `([^`]+)`)?/g)]
        const missing = named.filter(([, path = '', name = own]) => carried.get(name)?.has(path) !== true)
        expect(missing.map(([whole]) => whole)).toEqual([])
      }
    }
  })

  it('Declarations are indented by tabs, and comments within them stay in line', () => {
    const declared =
      'interface A {\n    /**\n     * It  has    spaces.\n     */\n    b: {\n        c: 1;\n    };\n}\n'
    expect(indentByTabs(declared)).toBe(
      'interface A {\n\t/**\n\t * It  has    spaces.\n\t */\n\tb: {\n\t\tc: 1;\n\t};\n}\n',
    )
  })

  it('A module is indented by tabs, unless that would change a text in it', () => {
    expect(withoutComments('class A {\n  /** Left out. */\n  #a = 1;\n}\n')).toBe('class A {\n\t#a = 1;\n}\n')
    expect(withoutComments('// Left out.\nfunction a() {\n    return 1\n}\n')).toBe(
      'function a() {\n\treturn 1;\n}\n',
    )
    const withText = 'function a() {\n  return `b\n  c`;\n}\n'
    expect(withoutComments(withText)).toBe(withText)
  })

  it('A version is the newest of its name only as a release', () => {
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
    dependencies: { fastify: '^5.12.8' },
    ...{ repository: {}, homepage: '', bugs: {}, keywords: [], engines: {} },
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

  it('The check of a package accepts a sound one', () => expect(check({})).toEqual([]))

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
    [
      'an exact version',
      changed({ dependencies: { fastify: '5.12.8' } }),
      'fastify is wanted as 5.12.8, not as a caret range',
    ],
    ['no address of the sources', changed({ repository: undefined }), 'package.json has no "repository"'],
    [
      'an entry that is not there',
      changed({ exports: { './more': './dist/more.js' } }),
      'package.json names dist/more.js, which is missing',
    ],
    [
      'a file of the console that names a machine',
      {
        'dist/console/site/assets/main-AbC123xy.js.gz': gzipSync('"/home/ann/console"').toString('latin1'),
      },
      'dist/console/site/assets/main-AbC123xy.js.gz names a machine, or a source that is not there',
    ],
    [
      'too much',
      { 'docs/guide.md': 'x'.repeat(UNPACKED_BYTES_MAX) },
      expect.stringContaining(`${UNPACKED_BYTES_MAX} is the most`),
    ],
  ] as const) {
    it(`The check of a package finds ${name}`, () => expect(check(more)).toEqual([fault]))
  }

  it('The check of a package finds an entry for require that is not there, and a path for an older compiler', () => {
    const entry = { types: './dist/index.d.ts', default: './dist/index.js' }
    const both = { import: entry, require: { ...entry, default: './dist/cjs/index.js' } }
    const typesVersions = { '*': { more: ['./dist/cjs/more.d.ts'] } }
    expect(check(changed({ exports: { '.': both }, typesVersions }))).toEqual([
      'package.json names dist/cjs/more.d.ts, which is missing',
      'package.json names dist/cjs/index.js, which is missing',
    ])
    const commonJs = {
      'dist/cjs/package.json': '{"type":"commonjs"}\n',
      'dist/cjs/index.js': 'require("./gone.js")\n',
    }
    expect(check({ ...changed({ exports: { '.': both } }), ...commonJs })).toEqual([
      'dist/cjs/index.js imports ./gone.js, which it may not find',
    ])
  })

  it('The check of a package finds what is missing', () => {
    const { LICENSE: _, ...rest } = SOUND
    expect(checkContents(new Map(Object.entries(rest)), REPOSITORY)).toEqual(['LICENSE is missing'])
  })
})
