import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { runNpmPack } from '../../scripts/pack/run-npm-pack.ts'
import { REPOSITORY } from './source-tree.ts'

type Files = Readonly<Record<string, string>>

const ENTRY = { types: './dist/index.d.ts', default: './dist/index.js' }
const TYPES = { 'dist/index.d.ts': 'export declare const a: number\n' }

function packageFiles(manifest: object, more: Files = TYPES): Files {
  return {
    'package.json': JSON.stringify({
      version: '1.0.0',
      type: 'module',
      exports: { '.': ENTRY },
      ...manifest,
    }),
    'dist/index.js': 'export const a = 1\n',
    ...more,
  }
}

const SOUND = packageFiles({ name: 'sound' })
const WITHOUT_FILE = packageFiles({
  name: 'without-file',
  exports: { './none': { types: './dist/none.d.ts', default: './dist/index.js' }, '.': ENTRY },
})
const READ_AS_COMMONJS = packageFiles({ name: 'read-as-commonjs', type: 'commonjs' })
const WITHOUT_TYPES = packageFiles({ name: 'without-types', exports: { '.': './dist/index.js' } }, {})
/** It has an entry for CommonJS, whose types are said to be those of an ES module. */
const TYPES_OF_ESM = packageFiles(
  {
    name: 'types-of-esm',
    main: './dist/cjs/index.js',
    types: './dist/index.d.ts',
    exports: { '.': { import: ENTRY, require: { ...ENTRY, default: './dist/cjs/index.js' } } },
  },
  {
    ...TYPES,
    'dist/cjs/package.json': '{"type":"commonjs"}\n',
    'dist/cjs/index.js': 'exports.a = 1\n',
  },
)
/** Without "strict", its fault would be a warning. */
const WARNED_OF = packageFiles({ name: 'warned-of', repository: 'nowhere' })

/** Runs in a process without Vitest's condition "development", under which attw resolves to its TypeScript sources. */
const CHECK_ALL = `
const { checkByTools } = await import(process.argv[1])
const faults = []
for (const tarball of process.argv.slice(2)) faults.push(await checkByTools(tarball))
console.log(JSON.stringify(faults))`

describe('publint and attw', () => {
  const packages = [SOUND, WITHOUT_FILE, READ_AS_COMMONJS, WITHOUT_TYPES, TYPES_OF_ESM, WARNED_OF]
  let found: readonly (readonly string[])[]
  const getFaults = (files: Files) => found[packages.indexOf(files)]

  beforeAll(() => {
    const folder = mkdtempSync(join(tmpdir(), 'counterstep-checked-'))
    try {
      const names = packages.map((_, index) => `${index}`)
      packages.forEach((files, index) => {
        for (const [path, text] of Object.entries(files)) {
          mkdirSync(dirname(join(folder, `${index}`, path)), { recursive: true })
          writeFileSync(join(folder, `${index}`, path), text)
        }
      })
      const unreadable = join(folder, 'unreadable.tgz')
      writeFileSync(unreadable, 'not an archive')
      const tarballs = [...runNpmPack(folder, names, folder).map(({ tarball }) => tarball), unreadable]
      const checker = pathToFileURL(join(REPOSITORY, 'scripts/pack/check/check-by-tools.ts')).href
      const args = ['--input-type=module', '--eval', CHECK_ALL, checker, ...tarballs]
      found = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }))
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it('Both publint and attw accept a sound package', () => expect(getFaults(SOUND)).toEqual([]))

  it('Both publint and attw name an entry whose types are not there', () =>
    expect(getFaults(WITHOUT_FILE)).toEqual([
      'publint: error: pkg.exports["./none"].types is ./dist/none.d.ts but the file does not exist.',
      expect.stringMatching(
        /^attw: without-file v1\.0\.0\n[\s\S]*"without-file\/none"\n\nnode16 \(from ESM\): Used fallback condition\n/,
      ),
    ]))

  it('Both publint and attw name an ES module that Node would read as CommonJS', () =>
    expect(getFaults(READ_AS_COMMONJS)).toEqual([
      expect.stringMatching(/^publint: error: .*is written in ESM, but is interpreted as CJS/),
      expect.stringMatching(/^attw: [\s\S]*\nnode16 \(from ESM\): Unexpected module syntax\n/),
    ]))

  it('The tool attw misses the types of a package that has none', () =>
    expect(getFaults(WITHOUT_TYPES)).toEqual([
      expect.stringMatching(/^attw: This package does not contain types/),
    ]))

  it('The tool attw looks at CommonJS, too, where a package has an entry for it', () =>
    expect(getFaults(TYPES_OF_ESM)).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^attw: [\s\S]*\nnode16 \(from CJS\): Masquerading as ESM\n/),
      ]),
    ))

  it('A warning of publint is taken for an error', () =>
    expect(getFaults(WARNED_OF)).toEqual([expect.stringMatching(/^publint: error: pkg\.repository /)]))

  it('Both publint and attw say that they cannot read a tarball', () =>
    expect(found.at(-1)).toEqual([expect.stringMatching(/^publint: /), expect.stringMatching(/^attw: /)]))
})
