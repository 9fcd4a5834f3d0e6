import { describe, expect, it } from 'vitest'
import { checkDependencyPage, DEPENDENCY_PAGE } from './check-dependency-page.ts'
import { checkDocuments } from './check-documents.ts'
import { checkNames } from './check-names.ts'
import { checkCorePurity, checkEnvironmentReads } from './check-purity.ts'
import { checkWords } from './check-words.ts'
import { checkLockfile } from './lockfile.ts'
import { REPOSITORY, readRepository } from './source-tree.ts'
import { soundTree } from './tree-fixture.ts'

describe('the repository', () => {
  const tree = readRepository()

  it('The core is pure', () => expect(checkCorePurity(tree)).toEqual([]))
  it('The environment is read in one place', () => expect(checkEnvironmentReads(tree)).toEqual([]))
  it('Files and folders are named for things', () => expect(checkNames(tree)).toEqual([]))
  it('Comments are sentences about named things', () => expect(checkWords(tree)).toEqual([]))
  it('The lockfile locks everything, and names no registry host', () =>
    expect(checkLockfile(tree)).toEqual([]))
  it('Every runtime dependency is defended', () => expect(checkDependencyPage(tree)).toEqual([]))
  it('The commands and links of documents exist', () => expect(checkDocuments(tree, REPOSITORY)).toEqual([]))
})

const IMPURITIES = [
  ['a clock', 'export const at = Date.now()', 'Date'],
  ['a clock by a computed name', "export const at = Date['now']()", 'Date'],
  ['a clock by construction', 'export const at = new Date()', 'Date'],
  ['chance', 'export const draw = () => Math.random()', 'Math.random'],
  ['chance in brackets', "export const draw = () => Math['random']()", 'Math.random'],
  ['an async function', 'export async function f() {}', 'async'],
  ['an async arrow', 'export const f = async () => 1', 'async'],
  ['a promise', 'export const p = Promise.resolve(1)', 'Promise'],
  ['the type of a promise', 'export type P = Promise<number>', 'Promise'],
  ['a timer', 'setTimeout(() => 1, 1)', 'setTimeout'],
  ['the process', 'export const id = process.pid', 'process'],
] as const

describe('the check of the core', () => {
  for (const [name, text, detail] of IMPURITIES) {
    it(`The check of the core finds ${name}`, () => {
      const tree = soundTree({ 'packages/core/src/broken.ts': `${text}\n` })
      expect(checkCorePurity(tree)).toEqual([
        { rule: 'pure-core', path: 'packages/core/src/broken.ts', detail },
      ])
    })
  }

  it('The check of the core finds an await', () => {
    const tree = soundTree({ 'packages/core/src/broken.ts': 'await 1\n' })
    expect(checkCorePurity(tree)).toMatchObject([{ detail: 'await' }])
  })

  it('A port may have the type of a promise, and only that', () => {
    const text = 'export interface A { call(): Promise<number> }\n'
    expect(checkCorePurity(soundTree({ 'packages/core/src/ports/ports.ts': text }))).toEqual([])
    const value = 'export const p = Promise.resolve(1)\n'
    expect(checkCorePurity(soundTree({ 'packages/core/src/ports/ports.ts': value }))).toHaveLength(1)
  })

  it('No property and no test is taken for a fault of the core', () => {
    const tree = soundTree({
      'packages/core/src/fine.ts':
        '// Date.now()\nexport const x = { Date: 1, process: 2, at: Date.parse("2027-03-01T08:00:00Z") }\n',
      'packages/core/src/fine.test.ts': 'export const at = Date.now()\n',
    })
    expect(checkCorePurity(tree)).toEqual([])
  })
})

describe('the check of the environment', () => {
  it('The check of the environment finds a second reader', () => {
    const path = 'packages/server/src/broken.ts'
    const tree = soundTree({ [path]: 'export const home = process.env.HOME\n' })
    expect(checkEnvironmentReads(tree)).toMatchObject([{ path }])
  })
})

describe('the check of names', () => {
  for (const path of ['packages/core/src/utils.ts', 'sdk/src/helpers.ts', 'sdk/test/common.test.ts']) {
    it(`The check of names finds the file ${path}`, () =>
      expect(checkNames(soundTree({ [path]: '' }))).toHaveLength(1))
  }
  for (const path of ['packages/core/src/types/gid.ts', 'sdk/src/interfaces/client.ts']) {
    it(`The check of names finds the folder of ${path}`, () =>
      expect(checkNames(soundTree({ [path]: '' }))).toHaveLength(1))
  }
})

describe('the check of words', () => {
  const find = (text: string) => checkWords(soundTree({ 'packages/core/src/broken.ts': `${text}\n` }))
  for (const text of [
    '/** Of a branch, when it was called. */',
    '/**\n * As the store counts.\n */',
    'const a = 1\n// To be read once.',
    '  /* With a lease. */',
    '/** The lock that somebody holds. */',
    '// The first line.\n// Nobody reads the second one.',
  ]) {
    it(`The check of words finds ${JSON.stringify(text)}`, () => expect(find(text)).toHaveLength(1))
  }
  for (const text of ['/** Asks again. */', '// A row.\n// Of it nothing is kept.', "const a = '// Of a'"]) {
    it(`The check of words allows ${JSON.stringify(text)}`, () => expect(find(text)).toEqual([]))
  }
})

describe('the check of the lockfile', () => {
  const lock = (entry: object) =>
    soundTree({ 'package-lock.json': JSON.stringify({ packages: { 'node_modules/a': entry } }) })

  it('The check of the lockfile finds a registry', () => {
    expect(checkLockfile(lock({ version: '1.0.0', resolved: 'https://npm.example/a.tgz' }))).toHaveLength(1)
  })
  it('The check of the lockfile finds what npm left out for another platform', () => {
    const entry = { version: '1.0.0', optionalDependencies: { 'a-darwin': '1.0.0' } }
    expect(checkLockfile(lock(entry))).toMatchObject([{ rule: 'whole-lockfile' }])
  })
  it('The check of the lockfile allows a link to a workspace', () => {
    expect(checkLockfile(lock({ resolved: 'packages/a', link: true }))).toEqual([])
  })
})

describe('the check of the dependency page', () => {
  const row = (name: string, users: string, brings: string) =>
    `| \`${name}\` | ${users} | saves | ${brings} | people | steps |`
  const check = (page: string, more: object = {}) => {
    const manifest = { name: '@counterstep/store-redis', dependencies: { ioredis: '6.0.0' }, ...more }
    const lock = { packages: { 'node_modules/ioredis': { dependencies: { a: '1' } }, 'node_modules/a': {} } }
    const tree = soundTree({
      'packages/store-redis/package.json': JSON.stringify(manifest),
      'package-lock.json': JSON.stringify(lock),
      [DEPENDENCY_PAGE]: page,
    })
    return checkDependencyPage(tree).map(({ detail }) => detail)
  }

  it('The check of the dependency page accepts a row that is right', () =>
    expect(check(row('ioredis', 'store-redis', '1'))).toEqual([]))
  it('A peer needs no row where its user may leave it out and no source imports it', () => {
    const page = row('ioredis', 'store-redis', '1')
    const peer = { peerDependencies: { pg: '>=8' } }
    expect(check(page, peer)).toEqual(['pg has no row'])
    expect(check(page, { ...peer, peerDependenciesMeta: { pg: { optional: true } } })).toEqual([])
    const imported = {
      peerDependencies: { ioredis: '>=6' },
      peerDependenciesMeta: { ioredis: { optional: true } },
    }
    expect(check('', { dependencies: {}, ...imported })).toEqual(['ioredis has no row'])
  })
  it('The check of the dependency page finds a missing row', () =>
    expect(check('')).toEqual(['ioredis has no row']))
  it('The check of the dependency page finds a row too many', () => {
    expect(check(`${row('ioredis', 'store-redis', '1')}\n${row('lodash', '', '0')}`)).toContain(
      'nothing uses lodash',
    )
  })
  it('The check of the dependency page finds a wrong count', () => {
    expect(check(row('ioredis', 'store-redis', '7'))).toEqual(['ioredis brings 1 packages, the page says 7'])
  })
  it('The check of the dependency page finds a user that is not named', () => {
    expect(check(row('ioredis', 'server', '1'))).toEqual([
      'ioredis is used by "store-redis", the page says "server"',
    ])
  })
})

describe('the check of documents', () => {
  const check = (text: string) => checkDocuments(soundTree({ 'docs/page.md': text }), REPOSITORY)

  it('The check of documents finds a script that does not exist', () => {
    expect(check('Run `npm run fly`.')).toMatchObject([{ rule: 'document-commands' }])
  })
  it('The check of documents finds a first page that is too long to be read', () => {
    const readme = (lines: number) => soundTree({ 'README.md': 'A line.\n'.repeat(lines) })
    expect(checkDocuments(readme(121), REPOSITORY)).toMatchObject([{ rule: 'document-length' }])
    expect(checkDocuments(readme(120), REPOSITORY)).toEqual([])
  })
  it('The check of documents finds a script that the page for contributors leaves out', () => {
    const tree = soundTree({ 'CONTRIBUTING.md': '`npm test`, `npm run bench:lambda`' })
    const missing = checkDocuments(tree, REPOSITORY).map(({ detail }) => detail)
    expect(missing).toContain('does not name the script "bench"')
    expect(missing).not.toContain('does not name the script "test"')
  })
  it('The check of documents finds a link that leads nowhere', () => {
    expect(check('[a](nowhere.md#part)')).toMatchObject([{ rule: 'document-links' }])
  })
  it('The check of documents finds a version of Node that is written otherwise than on other pages', () => {
    const engines = { name: 'root', engines: { node: '^22.19.0 || ^24.11.0 || >=26.0.0' } }
    const checkWith = (text: string) =>
      checkDocuments(soundTree({ 'package.json': JSON.stringify(engines), 'docs/page.md': text }), REPOSITORY)
    expect(checkWith('It needs Node 22.19 or newer.')).toMatchObject([{ rule: 'document-node' }])
    expect(checkWith('It needs Node 22.19+, 24.11+ or 26+; it was tried with 22.19.0.')).toEqual([])
  })
  it('The check of documents finds a path of one machine', () => {
    expect(check('It is in /home/me/x.')).toMatchObject([{ rule: 'document-machines' }])
  })
  it('The check of documents finds a page that installs what is not published, and does not say so', () => {
    const part = 'It is not published: do this.\n'
    const checkWith = (page: string, more: Readonly<Record<string, string>> = {}) =>
      checkDocuments(soundTree({ 'docs/page.md': page, ...more }), REPOSITORY)
    const there = { 'docs/parts/not-published-yet.md': part }
    const included = (text: string) => `<!-- not published yet -->\n${text}<!-- end -->\n`
    for (const command of [
      '`npm install counterstep`',
      '`npm i counterstep`',
      'npm install express @counterstep/sdk\n',
    ]) {
      expect(checkWith(command, there)).toMatchObject([{ rule: 'document-not-published' }])
      expect(checkWith(command)).toEqual([])
      expect(checkWith(`${command}\n${included(part)}`, there)).toEqual([])
      expect(checkWith(`${command}\n${included('Something else.\n')}`, there)).toMatchObject([
        { rule: 'document-not-published' },
      ])
    }
    expect(checkWith(included(part))).toMatchObject([{ rule: 'document-not-published' }])
    expect(checkWith('`npm install CLONE/dist/*.tgz`, `npm install express`', there)).toEqual([])
  })
  it('The check of documents allows what exists', () => {
    expect(check('`npm test`, `npm run bench`, [root](../package.json), [web](https://example.com)')).toEqual(
      [],
    )
  })
})
