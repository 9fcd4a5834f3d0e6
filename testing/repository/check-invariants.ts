import { hasTitle, testsIn } from './check-security-page.ts'
import { isCode, type SourceTree, type Violation } from './source-tree.ts'

export const INVARIANTS_PAGE = 'docs/invariants.md'

/** A suite that names its invariants in code: how the page calls it, and where the code lies. */
interface Suite {
  readonly name: string
  readonly files: RegExp
  /** Finds each id in these files. */
  readonly ids: RegExp
}

const ID = /\b[IL]\d{1,2}\b/g
const SUITES: readonly Suite[] = [
  { name: 'simulator', files: /(^|\/)simulator\/src\/(.*\/)?proofs\.ts$/, ids: /^ {2}(\w+): '/gm },
  { name: 'bank', files: /\/bank\/audit\/violation\.ts$/, ids: /^ {2}([IL]\d+): '/gm },
  { name: 'DTM chaos', files: /\/chaos\/src\/dtm\/audit\/violation\.ts$/, ids: /^ {2}([IL]\d+): '/gm },
  { name: 'crash points', files: /\/crash-points\/[^/]+\.ts$/, ids: ID },
  { name: 'power loss', files: /\/power-loss\/[^/]+\.ts$/, ids: ID },
]

interface Rule {
  readonly id: string
  readonly checkedBy: string
}

/** The page has every invariant that code names, and tells truly which suites check it. */
export function checkInvariants(tree: SourceTree): Violation[] {
  const rules = readRules(tree.get(INVARIANTS_PAGE) ?? '')
  const details = [...findUnlisted(tree, rules), ...SUITES.flatMap((suite) => compare(tree, suite, rules))]
  return [...details, ...rules.flatMap((rule) => findUnchecked(tree, rule))].map((detail) => ({
    rule: 'invariants',
    path: INVARIANTS_PAGE,
    detail,
  }))
}

/** Every rule is a heading of the third level, and ends with a line that names its suites. */
function readRules(text: string): readonly Rule[] {
  return text
    .split(/^### /m)
    .slice(1)
    .map((part) => ({
      id: /^\S+/.exec(part)?.[0] ?? '',
      checkedBy: /^\*Checked by:\* (.*)$/m.exec(part)?.[1] ?? '',
    }))
}

function findUnlisted(tree: SourceTree, rules: readonly Rule[]): string[] {
  const listed = new Set(rules.map(({ id }) => id))
  return [...tree]
    .filter(([path]) => isCode(path) && !path.startsWith('testing/repository/'))
    .flatMap(([path, text]) => [...new Set(text.match(ID))].map((id) => ({ path, id })))
    .filter(({ id }) => !listed.has(id))
    .map(({ path, id }) => `${path} names ${id}, which the page does not explain`)
}

function compare(tree: SourceTree, { name, files, ids }: Suite, rules: readonly Rule[]): string[] {
  const code = [...tree].filter(([path]) => files.test(path)).map(([, text]) => text)
  const checked = new Set(code.flatMap((text) => [...text.matchAll(ids)].map(([all, id]) => id ?? all)))
  const told = new Set(rules.filter(({ checkedBy }) => namesSuite(checkedBy, name)).map(({ id }) => id))
  return [
    ...[...checked].filter((id) => !told.has(id)).map((id) => `${id} does not say that ${name} checks it`),
    ...[...told].filter((id) => !checked.has(id)).map((id) => `${name} does not name ${id}`),
  ]
}

function namesSuite(checkedBy: string, name: string): boolean {
  return checkedBy
    .split(/[,;.]/)
    .map((part) => part.trim())
    .includes(name)
}

/** A rule that none of the suites checks names a test, or a measurement, that exists. */
function findUnchecked(tree: SourceTree, { id, checkedBy }: Rule): string[] {
  const tests = testsIn(checkedBy)
  const missing = tests.filter(({ path, title }) => !hasTitle(tree.get(path), title))
  const isChecked = tests.length > 0 || SUITES.some(({ name }) => namesSuite(checkedBy, name))
  return [
    ...(isChecked ? [] : [`${id} names nothing that checks it`]),
    ...missing.map(({ path, title }) => `${id}: ${path} has no test "${title}"`),
  ]
}
