import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkActionPins, checkSupplyChain } from './check-supply-chain.ts'
import { REPOSITORY, readRepository, type SourceTree } from './source-tree.ts'

const INTEGRITY = `sha512-${'A'.repeat(86)}==`
const SOUND = { version: '5.12.8', integrity: INTEGRITY }

function treeWith(entry: object, name = 'fastify', more: Readonly<Record<string, string>> = {}): SourceTree {
  const npmrc = 'ignore-scripts=true\nsave-exact=true\n'
  const manifest = { name: 'a', dependencies: {} }
  return new Map(
    Object.entries({
      '.npmrc': npmrc,
      'scripts/install.mjs': "'--ignore-scripts'",
      'package.json': JSON.stringify(manifest),
      'package-lock.json': JSON.stringify({ packages: { [`node_modules/${name}`]: entry } }),
      ...more,
    }),
  )
}

const listRules = (tree: SourceTree) => checkSupplyChain(tree).map(({ rule }) => rule)

describe('S34, S35: the supply chain', () => {
  const npmrc = readFileSync(join(REPOSITORY, '.npmrc'), 'utf8')
  const tree = new Map([...readRepository(), ['.npmrc', npmrc]])

  it('S34: S35: The repository locks everything by content, in versions without known holes, and runs no script at install', () => {
    expect(checkSupplyChain(tree)).toEqual([])
    expect(listRules(treeWith(SOUND))).toEqual([])
  })

  it('S34: A version that is too old is found', () => {
    expect(listRules(treeWith({ ...SOUND, version: '5.8.4' }))).toEqual(['minimum-versions'])
    expect(listRules(treeWith({ ...SOUND, version: '3.23.0' }, 'mysql2'))).toEqual(['minimum-versions'])
    expect(listRules(treeWith({ ...SOUND, version: '7.24.0' }, 'undici'))).toEqual(['minimum-versions'])
    // A version that only a dependency brings is found too.
    expect(listRules(treeWith({ ...SOUND, version: '6.23.0' }, 'x/node_modules/undici'))).toEqual([
      'minimum-versions',
    ])
  })

  it('S35: A package without a digest is found, and so is one with a weak one', () => {
    expect(listRules(treeWith({ version: '5.12.8' }))).toEqual(['locked-by-content'])
    expect(listRules(treeWith({ ...SOUND, integrity: 'sha1-AAAA' }))).toEqual(['locked-by-content'])
    const apart = JSON.stringify({ packages: { 'node_modules/a': { version: '1.0.0' } } })
    expect(checkSupplyChain(treeWith(SOUND, 'fastify', { 'b/package-lock.json': apart }))).toMatchObject([
      { rule: 'locked-by-content', path: 'b/package-lock.json' },
    ])
  })

  it('S35: A package that wants to run something at install is found', () => {
    expect(listRules(treeWith({ ...SOUND, hasInstallScript: true }))).toEqual(['install-scripts'])
    expect(listRules(treeWith(SOUND, 'fastify', { '.npmrc': 'save-exact=true' }))).toEqual([
      'install-scripts',
    ])
  })

  it('S35: A lock that is not what was declared is found', () => {
    const manifest = JSON.stringify({ name: 'a', dependencies: { fastify: '5.12.9' } })
    expect(listRules(treeWith(SOUND, 'fastify', { 'package.json': manifest }))).toEqual([
      'locked-as-declared',
    ])
  })

  it('S35: CI steps by others are pinned by commit, where there are any', () => {
    expect(checkActionPins(tree)).toEqual([])
    const workflow = (uses: string) => new Map([['.github/workflows/ci.yml', `steps:\n  - uses: ${uses}\n`]])
    expect(checkActionPins(workflow('actions/checkout@v5'))).toHaveLength(1)
    expect(checkActionPins(workflow(`actions/checkout@${'a'.repeat(40)}`))).toEqual([])
  })
})
