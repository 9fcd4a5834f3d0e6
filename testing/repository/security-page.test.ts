import { describe, expect, it } from 'vitest'
import { checkSecurityPage, numbersIn, SECURITY_PAGE, securityRows } from './check-security-page.ts'
import { readRepository, type SourceTree } from './source-tree.ts'

const NUMBERS = numbersIn('S1–S44')
const NOT_YET = ['S12', 'S13', 'S15', 'S21', 'S33']
/** Their entries come with what they describe. Nothing may stand here that has an entry. */

describe('the map of protections', () => {
  const tree = readRepository()
  const page = tree.get('SECURITY.md') ?? ''

  it('The security page names tests that exist', () => expect(checkSecurityPage(tree)).toEqual([]))

  it('Each number of a protection stands once: on the security page, or as not yet there', () => {
    const mapped = [...new Set(securityRows(tree).flatMap(({ numbers }) => numbers))]
    const all = [...mapped, ...NOT_YET].sort()
    expect(all).toEqual([...NUMBERS].sort())
  })

  it('S36, S37: SECURITY.md says how to report, what is protected, what each switch risks and what is not there yet', () => {
    for (const heading of [
      'Report a hole',
      'Supported versions',
      'Threat model',
      'Insecure switches',
      'In a container',
      'Not yet',
    ])
      expect(page).toContain(`## ${heading}\n`)
    const notYet = page.slice(page.indexOf('## Not yet'))
    expect([...notYet.matchAll(/^\| (S\d+)/gm)].map(([, number]) => number)).toEqual(NOT_YET)
    expect(page).toContain('| `--store-accept-class-c`')
  })
})

describe('the check of the map', () => {
  const row = (tests: string): SourceTree =>
    new Map([
      [SECURITY_PAGE, `## Calls\n\n- **S3** It is done.\n  *Shown by* ${tests}\n`],
      ['a.test.ts', "it('S3: is refused', () => 1)\nit('S3: mysql, too', () => 1)"],
    ])

  it('The check of the security page accepts titles that are there', () => {
    expect(checkSecurityPage(row('`a.test.ts` "S3: is refused", ", too"'))).toEqual([])
  })
  it('The check of the security page finds a row without a test, a file that is not there, and a title that is not', () => {
    expect(checkSecurityPage(row('none'))).toHaveLength(1)
    expect(checkSecurityPage(row('`b.test.ts`'))).toHaveLength(1)
    expect(checkSecurityPage(row('`a.test.ts` "S3: is refused", "S3: is mended"'))).toHaveLength(1)
  })
  it('The check of the security page finds an entry that stands in a table', () => {
    const tree = new Map([[SECURITY_PAGE, '| S3 | done | `a.test.ts` |\n']])
    expect(checkSecurityPage(tree)).toHaveLength(1)
  })
  it('The check of the security page reads lists and ranges of numbers', () => {
    expect(numbersIn('S2, S4–S6')).toEqual(['S2', 'S4', 'S5', 'S6'])
  })
})
