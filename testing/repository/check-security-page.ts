import type { SourceTree, Violation } from './source-tree.ts'

export const SECURITY_PAGE = 'docs/security.md'
/** Entries may also stand in files of their own. */
const ROWS_FOLDER = 'docs/security/'
/** An entry goes on for as long as its lines are indented. */
const ENTRY =
  /^- \*\*(S\d[^*]*)\*\* (.*(?:\n {2}(?!\*Shown by\*).*)*)(?:\n {2}\*Shown by\* (.*(?:\n {2}.*)*))?/gm

export interface SecurityRow {
  readonly page: string
  readonly numbers: readonly string[]
  readonly tests: readonly { readonly path: string; readonly title: string }[]
}

/** Every entry of a list that begins with a number: what is done, then after "Shown by" the tests. */
export function securityRows(tree: SourceTree): readonly SecurityRow[] {
  return [...tree]
    .filter(([path]) => path === SECURITY_PAGE || (path.startsWith(ROWS_FOLDER) && path.endsWith('.md')))
    .flatMap(([page, text]) =>
      [...text.matchAll(ENTRY)].map(([, numbers = '', , tests = '']) => ({
        page,
        numbers: numbersIn(numbers),
        tests: testsIn(tests),
      })),
    )
}

/** `S3`, `S3, S5` and `S3–S5`. */
export function numbersIn(text: string): readonly string[] {
  return [...text.matchAll(/S(\d+)(?:\s*[–-]\s*S(\d+))?/g)].flatMap(([, first, last = first]) =>
    Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) => `S${Number(first) + index}`),
  )
}

/** A path in code, then one or more titles in quotation marks. */
export function testsIn(text: string): SecurityRow['tests'] {
  let path = ''
  const tests: { readonly path: string; readonly title: string }[] = []
  for (const [, named, title] of text.matchAll(/`([^`\s]+\.(?:ts|mjs))`|"((?:[^"\\]|\\.)+)"/g)) {
    if (named !== undefined) path = named
    // A path alone means the file; what is left out at the end of a title is an ellipsis.
    tests.push({ path, title: (title ?? '').replace('…', '') })
  }
  return tests
}

/** Each entry names tests that exist, and none stands in a table, where it would be overlooked. */
export function checkSecurityPage(tree: SourceTree): Violation[] {
  const inTables = [...(tree.get(SECURITY_PAGE) ?? '').matchAll(/^\| *(S\d+)/gm)].map(([, number]) => ({
    rule: 'security-page',
    path: SECURITY_PAGE,
    detail: `${number} stands in a table: write "- **${number}** It is done." and a line "*Shown by* tests"`,
  }))
  const entries = securityRows(tree).flatMap(({ page, numbers, tests }) => {
    const faults = tests.filter(({ path, title }) => !hasTitle(tree.get(path), title))
    return [
      ...(tests.length === 0 ? [`${numbers.join(', ')} names no test`] : []),
      ...faults.map(({ path, title }) => `${numbers.join(', ')}: ${path} has no test "${title}"`),
    ].map((detail) => ({ rule: 'security-page', path: page, detail }))
  })
  return [...inTables, ...entries]
}

/** Tells whether the text has the title as the source writes it, whichever quotes it uses. */
export function hasTitle(text: string | undefined, title: string): boolean {
  return text !== undefined && [title, title.replaceAll("'", "\\'")].some((each) => text.includes(each))
}
