import { existsSync } from 'node:fs'
import { join, posix } from 'node:path'
import { LAYERS } from './layers.ts'
import { isCode, type SourceTree, type Violation } from './source-tree.ts'

const ARCHITECTURE = 'ARCHITECTURE.md'
/** Folders of the repository, beside the workspaces, whose paths are checked also where they name no file. */
const FOLDERS = ['docs', 'infra', 'scripts', 'testing', 'bench', 'examples', 'packages', 'functions', 'sdk']
const FILE_ENDING = /[\w-]\.(?:ts|mjs|md|sql|lua|ya?ml|svg)$/
const CODE_WORD = /`([A-Za-z.][\w./-]*\/?)`/g
const FENCE = /^```.*\n[\s\S]*?^```/gm
/** A page that says ```` ```ts bank.ts ```` makes that file in the reader's own project. */
const FENCE_NAME = /^```\w+ (\S+)/gm
const COMMENT = /\/\*[\s\S]*?\*\/|(?<![:'"`\w])\/\/[^\n]*/g
/** Pages that readers must be able to find from where they meet their words: by page, the pages that link to it; a slash opens the end of a path. */
const LINKED_FROM: Readonly<Record<string, readonly string[]>> = {
  'docs/glossary.md': ['README.md', 'ARCHITECTURE.md', 'docs/README.md'],
  'docs/invariants.md': [
    'README.md',
    'ARCHITECTURE.md',
    'docs/README.md',
    '/simulator/README.md',
    '/store-conformance/README.md',
  ],
}
/** Paths that a command or a user makes, or that are named with a part to fill in. */
const MADE = /(?:^|\/)(?:dist|node_modules|\.env)(?:\/|$)|[A-Z]{3,}$/

/**
 * Checks that the targets of documents and comments are in the repository, and that the table of packages names every
 * workspace.
 */
export function checkPointers(tree: SourceTree, root: string): Violation[] {
  const paths = [...tree.keys()]
  const isThere = (from: string, target: string): boolean =>
    existsSync(join(root, posix.dirname(from), target)) ||
    existsSync(join(root, target)) ||
    paths.some((path) => path === target || path.endsWith(`/${target}`) || path.startsWith(`${target}/`))
  const dead = [...tree].flatMap(([path, text]) =>
    readPointers(path, text)
      .filter((target) => !isThere(path, target))
      .map((target) => ({ path, detail: `points to ${target}, which is not there` })),
  )
  return [...dead, ...findUnlisted(tree), ...findUnlinked(tree)].map((fault) => ({
    rule: 'pointers',
    ...fault,
  }))
}

/** Words in backticks that look like a path of the repository, or like one of its files. */
function readPointers(path: string, text: string): readonly string[] {
  const made = new Set([...text.matchAll(FENCE_NAME)].map(([, name]) => name ?? ''))
  const words = [...readProse(path, text).matchAll(CODE_WORD)].map(([, word]) =>
    (word ?? '').replace(/\/$/, ''),
  )
  return [...new Set(words)].filter((word) => looksLikePath(word) && !made.has(word) && !MADE.test(word))
}

function readProse(path: string, text: string): string {
  if (path.endsWith('.md')) return text.replace(FENCE, '')
  if (isCode(path) && !path.includes('/generated/')) return (text.match(COMMENT) ?? []).join('\n')
  return ''
}

function looksLikePath(word: string): boolean {
  const [first = '', second] = word.split('/')
  return FILE_ENDING.test(word) || (second !== undefined && FOLDERS.includes(first))
}

function findUnlisted(tree: SourceTree): { readonly path: string; readonly detail: string }[] {
  const page = tree.get(ARCHITECTURE)
  if (page === undefined) return []
  return Object.values(LAYERS)
    .filter(({ folder }) => !page.includes(`| \`${folder}\` |`))
    .map(({ folder }) => ({ path: ARCHITECTURE, detail: `has no row for ${folder}` }))
}

function findUnlinked(tree: SourceTree): { readonly path: string; readonly detail: string }[] {
  return Object.entries(LINKED_FROM)
    .filter(([target]) => tree.has(target))
    .flatMap(([target, readers]) =>
      [...tree]
        .filter(([path]) =>
          readers.some((reader) => path === reader || (reader.startsWith('/') && path.endsWith(reader))),
        )
        .filter(([path, text]) => !linksTo(path, text, target))
        .map(([path]) => ({ path, detail: `does not link to ${target}` })),
    )
}

function linksTo(path: string, text: string, target: string): boolean {
  const links = [...text.matchAll(/\]\(([^)\s#]+)/g)].map(([, link]) => link ?? '')
  return links.some((link) => posix.join(posix.dirname(path), link) === target)
}
