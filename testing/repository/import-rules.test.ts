import { describe, expect, it } from 'vitest'
import { checkImports } from './check-imports.ts'
import { checkManifests } from './check-manifests.ts'
import { readRepository } from './source-tree.ts'
import { soundTree } from './tree-fixture.ts'

describe('the repository', () => {
  const tree = readRepository()

  it('The repository imports only what the layers allow', () => {
    expect(checkImports(tree)).toEqual([])
  })

  it('The repository declares only what the layers allow, in exact versions', () => {
    expect(checkManifests(tree)).toEqual([])
  })
})

const BROKEN_IMPORTS = [
  ['a core that imports the engine', 'packages/core', "import '@counterstep/engine'", 'layers'],
  ['an engine that imports a store', 'packages/engine', "import '@counterstep/store-sqlite'", 'layers'],
  ['a type import', 'packages/engine', "import type { A } from '@counterstep/branch-http'", 'layers'],
  ['a type in line', 'packages/engine', "export type A = import('@counterstep/server').A", 'layers'],
  ['a re-export', 'packages/engine', "export { a } from '@counterstep/server'", 'layers'],
  ['a star re-export', 'packages/engine', "export * from '@counterstep/server'", 'layers'],
  ['a dynamic import', 'packages/engine', "await import('@counterstep/server')", 'layers'],
  ['a require', 'packages/engine', "require('@counterstep/server')", 'layers'],
  ['a server that imports a store', 'packages/server', "import '@counterstep/store-sqlite'", 'layers'],
  ['a server that imports the caller', 'packages/server', "import '@counterstep/branch-http'", 'layers'],
  [
    'a store that imports the suite',
    'packages/store-sqlite',
    "import '@counterstep/store-conformance'",
    'layers',
  ],
  ['an SDK that imports the core', 'sdk', "import '@counterstep/core'", 'layers'],
  ['a simulator that imports the engine', 'testing/simulator', "import '@counterstep/engine'", 'layers'],
  ['a bench that imports a store', 'bench', "import '@counterstep/store-mysql'", 'layers'],
  ['a bench that takes its relay’s store', 'bench', "import './two-writes-baseline/open-store.ts'", 'layers'],
  ['a cli that imports the bench', 'packages/cli', "import '@counterstep/bench'", 'layers'],
  ['an example that imports the cli', 'examples/bank', "import 'counterstep'", 'layers'],
  ['a store that imports another', 'packages/store-sqlite', "import '@counterstep/store-mysql'", 'layers'],
  [
    'an import of another source',
    'packages/engine',
    "import '@counterstep/core/src/saga.ts'",
    'no-deep-import',
  ],
  [
    'a path into another package',
    'sdk',
    "import '../../packages/protocol/src/barrier/index.ts'",
    'no-relative-import-across-packages',
  ],
  [
    'a path out to the infra folder',
    'packages/cli',
    "import '../../../infra/x.ts'",
    'no-relative-import-across-packages',
  ],
  ['a builtin in the core', 'packages/core', "import 'node:fs'", 'no-builtin'],
  ['a builtin without its prefix', 'packages/core', "import 'fs'", 'no-builtin'],
  ['a builtin in the words', 'packages/protocol', "import 'node:crypto'", 'no-builtin'],
  ['a third party in the core', 'packages/core', "import 'undici'", 'no-third-party'],
  ['zod outside the schemas', 'packages/protocol', "import 'zod'", 'no-third-party'],
  ['another store driver', 'packages/store-sqlite', "import 'mysql2/promise'", 'no-third-party'],
  ['a third party in the SDK', 'sdk', "import 'undici'", 'no-third-party'],
  ['an absolute path', 'packages/cli', "import '/etc/x.ts'", 'no-absolute-import'],
  ['a computed import', 'packages/cli', 'await import(one + two)', 'no-computed-import'],
] as const

describe('the check of imports', () => {
  it('The check of imports finds nothing in a sound tree', () => {
    expect(checkImports(soundTree())).toEqual([])
  })

  for (const [name, folder, text, rule] of BROKEN_IMPORTS) {
    it(`The check of imports finds ${name}`, () => {
      const path = `${folder}/src/broken.ts`
      const violations = checkImports(soundTree({ [path]: `${text}\n` }))
      expect(violations.map((violation) => [violation.rule, violation.path])).toEqual([[rule, path]])
    })
  }

  it('The check of imports allows a test what its source may not', () => {
    const text = "import '@counterstep/store-conformance'\nimport 'node:fs'\nimport 'vitest'\n"
    expect(checkImports(soundTree({ 'packages/engine/test/recovery.test.ts': text }))).toEqual([])
  })

  it('The check of imports holds a test to its own list', () => {
    const path = 'packages/engine/test/recovery.test.ts'
    const violations = checkImports(soundTree({ [path]: "import '@counterstep/server'\n" }))
    expect(violations).toMatchObject([{ rule: 'layers', path }])
  })

  it('The check of imports finds a tool of a test that no manifest declares', () => {
    const path = 'packages/engine/test/recovery.test.ts'
    const violations = checkImports(soundTree({ [path]: "import 'sinon'\n" }))
    expect(violations).toMatchObject([{ rule: 'undeclared', path }])
  })

  it('The check of imports takes no comment and no string for an import', () => {
    const text = "// import 'undici'\nexport const text = \"import 'undici'\"\n"
    expect(checkImports(soundTree({ 'packages/core/src/quiet.ts': text }))).toEqual([])
  })

  it('The check of imports allows zod behind the entry /schemas', () => {
    const text = "import { z } from 'zod'\nexport const id = z.string()\n"
    expect(checkImports(soundTree({ 'packages/protocol/src/schemas.ts': text }))).toEqual([])
  })
})

const BROKEN_MANIFESTS = [
  ['a dependency on a workspace above', { dependencies: { '@counterstep/server': '0.1.0' } }, 'layers'],
  ['a peer above', { peerDependencies: { '@counterstep/server': '0.1.0' } }, 'layers'],
  ['a development dependency on the bench', { devDependencies: { '@counterstep/bench': '0.1.0' } }, 'layers'],
  ['a peer that has to be installed', { peerDependencies: { mysql2: '>=3' } }, 'no-third-party'],
  ['a third party of the core', { dependencies: { lodash: '4.17.21' } }, 'no-third-party'],
  ['a caret', { devDependencies: { vitest: '^5.1.0' } }, 'exact-versions'],
  ['a tilde', { devDependencies: { vitest: '~5.1.0' } }, 'exact-versions'],
  ['a tag', { optionalDependencies: {}, devDependencies: { vitest: 'latest' } }, 'exact-versions'],
  ['a workspace by any version', { dependencies: { '@counterstep/protocol': '*' } }, 'exact-versions'],
] as const

describe('the check of package.json files', () => {
  for (const [name, fields, rule] of BROKEN_MANIFESTS) {
    it(`The check of manifests finds ${name}`, () => {
      const path = 'packages/core/package.json'
      const manifest = JSON.stringify({ name: '@counterstep/core', ...fields })
      expect(checkManifests(soundTree({ [path]: manifest }))).toMatchObject([{ rule, path }])
    })
  }

  it('The check of manifests allows a peer that need not be installed', () => {
    const peer = { peerDependencies: { mysql2: '>=3' }, peerDependenciesMeta: { mysql2: { optional: true } } }
    const manifest = JSON.stringify({ name: '@counterstep/sdk', ...peer })
    expect(checkManifests(soundTree({ 'sdk/package.json': manifest }))).toEqual([])
  })

  it('The check of manifests finds a workspace without a row', () => {
    const path = 'packages/store-paper/package.json'
    const manifest = JSON.stringify({ name: '@counterstep/store-paper' })
    expect(checkManifests(soundTree({ [path]: manifest }))).toMatchObject([
      { rule: 'unknown-workspace', path },
    ])
  })
})
