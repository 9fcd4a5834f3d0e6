import { describe, expect, it } from 'vitest'
import { checkGlossary, GLOSSARY } from './check-glossary.ts'
import { readRepository } from './source-tree.ts'

const line = (anchor: string, name: string, meaning: string) =>
  `- <a id="${anchor}"></a>**${name}**: ${meaning}\n`
const LEASE = line('lease', 'lease', 'the time for which a node works alone.')
const SOUND = {
  [GLOSSARY]: `# Glossary\n\n${LEASE}${line('kind', 'kind', '`saga` alone.')}`,
  'docs/page.md': 'Its [leases](glossary.md#lease) end. Each kind does.\n',
  'packages/protocol/src/kinds.ts': "export const KINDS = ['saga'] as const\n",
}

function check(changes: Readonly<Record<string, string>> = {}): string[] {
  return checkGlossary(new Map(Object.entries({ ...SOUND, ...changes }))).map(({ detail }) => detail)
}

describe('the glossary', () => {
  it('The glossary explains the words of the protocol, and each of its terms is used', () => {
    expect(checkGlossary(readRepository())).toEqual([])
  })
})

describe('the check of the glossary', () => {
  it('The check of the glossary accepts a glossary that is sound', () => expect(check()).toEqual([]))
  it('The check of the glossary finds a term that no document uses', () => {
    expect(check({ 'docs/page.md': 'Each kind.\n' })).toEqual(['no document uses lease'])
  })
  it('The check of the glossary finds a word of the protocol that is not explained', () => {
    const text = "export const KINDS = ['saga', 'workflow'] as const\n"
    expect(check({ 'packages/protocol/src/kinds.ts': text })).toEqual([
      'the protocol says workflow, and it is not explained',
    ])
  })
  it('The check of the glossary finds a link to a term that is not there', () => {
    expect(check({ 'README.md': 'A kind of [lock](docs/glossary.md#lock), a lease.\n' })).toEqual([
      'links to the term lock, which is not there',
    ])
  })
  it('The check of the glossary finds a term that stands there twice', () => {
    expect(check({ [GLOSSARY]: SOUND[GLOSSARY] + LEASE })).toEqual(['lease stands there twice'])
  })
  it('The check of the glossary finds a term that needs more than a line', () => {
    const long = SOUND[GLOSSARY].replace('works alone', `works ${'really '.repeat(40)}alone`)
    expect(check({ [GLOSSARY]: long })).toEqual(['lease takes more than 220 characters'])
  })
})
