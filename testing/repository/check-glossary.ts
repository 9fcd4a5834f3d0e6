import type { SourceTree, Violation } from './source-tree.ts'

export const GLOSSARY = 'docs/glossary.md'
const TERMS_MAX = 60
const LINE_CHARS_MAX = 220
/** The lists of the protocol whose words every reader of an answer meets. */
const LISTS = /export const (?:KINDS|UNFINISHED_STATUSES|FINAL_STATUSES|OPS|RESULTS) = \[([^\]]*)\]/g

interface Term {
  readonly anchor: string
  readonly name: string
  readonly line: string
}

/** Every term stands on one line and is used, the protocol's words are explained, and links lead to a term. */
export function checkGlossary(tree: SourceTree): Violation[] {
  const glossary = tree.get(GLOSSARY) ?? ''
  const terms = readTerms(glossary)
  const pages = [...tree].filter(([path]) => path.endsWith('.md') && path !== GLOSSARY)
  const texts = pages.map(([, text]) => text.toLowerCase())
  const inGlossary = [
    ...(terms.length > TERMS_MAX ? [`it has ${terms.length} terms, at most ${TERMS_MAX} are read`] : []),
    ...findRepeats(terms).map((anchor) => `${anchor} stands there twice`),
    ...terms.filter(isLong).map(({ name }) => `${name} takes more than ${LINE_CHARS_MAX} characters`),
    ...terms.filter((term) => !isUsed(term, texts)).map(({ name }) => `no document uses ${name}`),
    ...findUnexplained(tree, glossary).map((word) => `the protocol says ${word}, and it is not explained`),
  ].map((detail) => ({ rule: 'glossary', path: GLOSSARY, detail }))
  return [...inGlossary, ...pages.flatMap(([path, text]) => findDeadLinks(path, text, terms))]
}

function readTerms(glossary: string): readonly Term[] {
  const lines = glossary.matchAll(/^- <a id="([^"]+)"><\/a>\*\*(.+?)\*\*: .*$/gm)
  return [...lines].map(([line, anchor = '', name = '']) => ({ anchor, name, line }))
}

function findRepeats(terms: readonly Term[]): readonly string[] {
  const anchors = terms.map(({ anchor }) => anchor)
  return anchors.filter((anchor, index) => anchors.indexOf(anchor) !== index)
}

function isLong({ line }: Term): boolean {
  return line.length > LINE_CHARS_MAX
}

/** Finds the plural too, and a term with a hyphen or a line's end in place of a space. */
function isUsed({ name }: Term, texts: readonly string[]): boolean {
  const words = name.toLowerCase().split(/[\s-]+/)
  const pattern = new RegExp(`\\b${words.join('[\\s-]+')}(?:s|es)?\\b`)
  return texts.some((text) => pattern.test(text))
}

function findUnexplained(tree: SourceTree, glossary: string): readonly string[] {
  const protocol = [...tree].filter(([path]) => /(^|\/)protocol\/src\//.test(path)).map(([, text]) => text)
  const lists = protocol.flatMap((text) => [...text.matchAll(LISTS)].map(([, list]) => list ?? ''))
  const words = lists.flatMap((list) => [...list.matchAll(/'([^']+)'/g)].map(([, word]) => word ?? ''))
  return words.filter((word) => !glossary.includes(`\`${word}\``))
}

function findDeadLinks(path: string, text: string, terms: readonly Term[]): readonly Violation[] {
  const anchors = new Set(terms.map(({ anchor }) => anchor))
  return [...text.matchAll(/\]\([^)\s]*glossary\.md#([^)\s]+)\)/g)]
    .filter(([, anchor = '']) => !anchors.has(anchor))
    .map(([, anchor = '']) => ({
      rule: 'glossary',
      path,
      detail: `links to the term ${anchor}, which is not there`,
    }))
}
