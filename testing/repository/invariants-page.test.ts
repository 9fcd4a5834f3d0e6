import { describe, expect, it } from 'vitest'
import { checkInvariants, INVARIANTS_PAGE } from './check-invariants.ts'
import { readRepository } from './source-tree.ts'

const PROOFS = 'testing/simulator/src/mutants/proofs.ts'
const PAGE = `# Rules

### I1

**What is acknowledged stays.** A reason.
*Checked by:* simulator, crash points.

### L2

**It is taken over.**
*Checked by:* \`packages/engine/test/lease.test.ts\` "is taken over".
`
const SOUND = {
  [INVARIANTS_PAGE]: PAGE,
  [PROOFS]: "export const PROOFS = {\n  I1: 'a-mutant',\n}\n",
  'chaos/src/crash-points/ledger.ts': '// I1\n',
  'packages/engine/test/lease.test.ts': "it('is taken over', () => {})\n",
}

function check(changes: Readonly<Record<string, string>> = {}): string[] {
  return checkInvariants(new Map(Object.entries({ ...SOUND, ...changes }))).map(({ detail }) => detail)
}

describe('the page of invariants', () => {
  it('The page of invariants explains every invariant that the suites check, and no other', () => {
    expect(checkInvariants(readRepository())).toEqual([])
  })
})

describe('the check of the page of invariants', () => {
  it('The check of the page of invariants accepts a page that is complete', () => expect(check()).toEqual([]))
  it('The check of the page of invariants finds an invariant that only code names', () => {
    expect(check({ 'sdk/src/more.ts': '// This keeps I7.\n' })).toEqual([
      'sdk/src/more.ts names I7, which the page does not explain',
    ])
  })
  it('The check of the page of invariants finds a suite that the page does not name', () => {
    const text = `${SOUND[PROOFS]}// one more\n  strict: 'another-mutant',\n`
    expect(check({ [PROOFS]: text })).toEqual(['strict does not say that simulator checks it'])
  })
  it('The check of the page of invariants finds a suite that does not check what the page says', () => {
    expect(check({ 'chaos/src/crash-points/ledger.ts': '' })).toEqual(['crash points does not name I1'])
  })
  it('The check of the page of invariants finds a test that is not there', () => {
    expect(check({ 'packages/engine/test/lease.test.ts': '' })).toEqual([
      'L2: packages/engine/test/lease.test.ts has no test "is taken over"',
    ])
  })
  it('The check of the page of invariants finds an invariant that nothing checks', () => {
    expect(check({ [INVARIANTS_PAGE]: `${PAGE}\n### I9\n\n**A wish.**\n` })).toEqual([
      'I9 names nothing that checks it',
    ])
  })
})
