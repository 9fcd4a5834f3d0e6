import { describe, expect, it } from 'vitest'
import { checkPointers } from './check-pointers.ts'
import { REPOSITORY, readRepository } from './source-tree.ts'
import { soundTree } from './tree-fixture.ts'

describe('pointers', () => {
  it('Pointers lead from documents and comments to something that is there', () => {
    expect(checkPointers(readRepository(), REPOSITORY)).toEqual([])
  })
})

describe('the check of pointers', () => {
  const check = (path: string, text: string) =>
    checkPointers(soundTree({ [path]: text }), REPOSITORY).map(({ detail }) => detail)

  for (const path of ['packages/core/src/gone.ts', 'core/src/gone.ts', 'gone.sql', 'packages/gone']) {
    it(`The check of pointers finds that a page names ${path}, which is not there`, () => {
      expect(check('docs/page.md', `See \`${path}\`.`)).toEqual([`points to ${path}, which is not there`])
    })
  }
  it('The check of pointers finds a file that only a comment names', () => {
    expect(check('sdk/src/a.ts', '// As `gone.ts` does.\nexport const name = "`other.ts`"\n')).toEqual([
      'points to gone.ts, which is not there',
    ])
  })
  it('The check of pointers finds a workspace that the table of packages leaves out', () => {
    expect(check('ARCHITECTURE.md', '| `sdk` | is for users |')).toContain('has no row for packages/core')
  })
  it('The check of pointers finds a page that must link to the invariants and does not', () => {
    const pages = {
      'docs/invariants.md': '# What must always hold\n',
      'packages/simulator/README.md': 'See [them](../../docs/invariants.md#i1).\n',
      'packages/store-conformance/README.md': 'It links to nothing.\n',
    }
    expect(checkPointers(soundTree(pages), REPOSITORY)).toMatchObject([
      { path: 'packages/store-conformance/README.md', detail: 'does not link to docs/invariants.md' },
    ])
  })
  it('The check of pointers accepts a whole path, its end, a folder, and a file that the page itself makes', () => {
    const text = [
      '`packages/core/src/index.ts`, `core/src/index.ts`, `index.ts`, `packages/core`, `packages/store-NAME`',
      '`bank.ts`, `a/b`, `text/plain`',
      '```ts bank.ts',
      "export const one = '`gone.ts`'",
      '```',
    ]
    expect(check('docs/page.md', text.join('\n'))).toEqual([])
  })
})
