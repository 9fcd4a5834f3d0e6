import { existsSync } from 'node:fs'
import { join, posix } from 'node:path'
import { readManifests, type SourceTree, type Violation } from './source-tree.ts'

type FileExists = (path: string) => boolean

/** Commands and links of the documents lead somewhere, on any machine. */
export function checkDocuments(tree: SourceTree, root: string): Violation[] {
  const exists: FileExists = (path) => tree.has(path) || existsSync(join(root, path))
  const part = tree.get(NOT_PUBLISHED_YET)
  const scripts = Object.keys(readManifests(tree).get('')?.scripts ?? {})
  const needed = nodeVersions(readManifests(tree).get('')?.engines?.node)
  const pages = [...tree].filter(([path]) => path.endsWith('.md'))
  return pages
    .flatMap(([path, text]) => [
      ...unknownScripts(text, scripts).map((detail) => ({ rule: 'document-commands', path, detail })),
      ...brokenLinks(path, text, exists).map((detail) => ({ rule: 'document-links', path, detail })),
      ...unpublishedFaults(path, text, part).map((detail) => ({
        rule: 'document-not-published',
        path,
        detail,
      })),
      ...oddNodeVersions(path, text, needed).map((detail) => ({ rule: 'document-node', path, detail })),
      ...machineNames(text).map((detail) => ({ rule: 'document-machines', path, detail })),
    ])
    .concat(unlistedScripts(tree, scripts))
    .concat(longPages(tree))
}

/** A reader's first two pages stay as short as a person reads them. */
const LINES_MAX: Readonly<Record<string, number>> = { 'README.md': 120, 'ARCHITECTURE.md': 150 }

function longPages(tree: SourceTree): Violation[] {
  return Object.entries(LINES_MAX)
    .map(([path, linesMax]) => ({
      path,
      linesMax,
      lines: (tree.get(path) ?? '').trimEnd().split('\n').length,
    }))
    .filter(({ lines, linesMax }) => lines > linesMax)
    .map(({ path, lines, linesMax }) => ({
      rule: 'document-length',
      path,
      detail: `has ${lines} lines, at most ${linesMax} are read`,
    }))
}

const CONTRIBUTING = 'CONTRIBUTING.md'

/** The table of scripts is whole, where there is one. */
function unlistedScripts(tree: SourceTree, scripts: readonly string[]): Violation[] {
  const page = tree.get(CONTRIBUTING)
  return scripts
    .filter((name) => page !== undefined && !new RegExp(`npm (run )?${name}\\b(?!:)`).test(page))
    .map((name) => ({
      rule: 'document-commands',
      path: CONTRIBUTING,
      detail: `does not name the script "${name}"`,
    }))
}

function unknownScripts(text: string, scripts: readonly string[]): string[] {
  const named = [...text.matchAll(/\bnpm (?:run(?:-script)? ([a-z][\w:-]*)|(start|test)\b)/g)]
  return named
    .map(([, run, short]) => run ?? short ?? '')
    .filter((name) => !scripts.includes(name))
    .map((name) => `names the script "${name}", which package.json has not`)
}

function brokenLinks(path: string, text: string, exists: FileExists): string[] {
  const prose = text.replace(/^```[\s\S]*?^```/gm, '')
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target]) => (target ?? '').replace(/#.*$/, ''))
    .filter((target) => target !== '' && !/^[a-z]+:/i.test(target))
    .filter((target) => !exists(posix.join(posix.dirname(path), target)))
    .map((target) => `links to ${target}, which is not there`)
}

/** Says how to install what no registry has. Deleted with the first release, and then from every page. */
const NOT_PUBLISHED_YET = 'docs/parts/not-published-yet.md'
const INSTALLS_OURS = /npm i(?:nstall)? [^`\n]*(?<=\s)(counterstep|@counterstep\/sdk)(?=[\s`])/
const INCLUDED = /<!-- not published yet -->\n([\s\S]*?)<!-- end -->\n/

function unpublishedFaults(path: string, text: string, part: string | undefined): string[] {
  const included = INCLUDED.exec(text)?.[1]
  if (part === undefined)
    return included === undefined ? [] : [`includes ${NOT_PUBLISHED_YET}, which is gone`]
  if (included !== undefined) return included === part ? [] : [`does not say what ${NOT_PUBLISHED_YET} says`]
  if (path === NOT_PUBLISHED_YET || !INSTALLS_OURS.test(text)) return []
  return [`installs our packages by name, and does not include ${NOT_PUBLISHED_YET}`]
}

/** The range of `engines` as every page shall write it: `^22.19.0 || >=26.0.0` is `Node 22.19+ or 26+`. */
export function nodeVersions(engines = ''): string {
  const versions = [...engines.matchAll(/(\d+\.\d+)\.\d+/g)].map(([, each]) => `${each}+`.replace('.0+', '+'))
  const last = versions.pop()
  return `Node ${versions.length === 0 ? last : `${versions.join(', ')} or ${last}`}`
}

/** A page that names the first of these versions names all of them, in one form. A decision may tell of one. */
function oddNodeVersions(path: string, text: string, needed: string): string[] {
  const first = /[\d.]+\d/.exec(needed)?.[0]
  if (first === undefined || path.startsWith('docs/decisions/')) return []
  const others = text.replaceAll(needed, '')
  const isNamed = new RegExp(`\\b${first.replace('.', '\\.')}\\b(?!\\.)`).test(others)
  return isNamed ? [`names a version of Node otherwise than by "${needed}"`] : []
}

const MACHINE_NAMES =
  /(?:^|[\s`'"(])((?:\/(?:home|root|work|Users)\/|[A-Z]:\\)\S*|https?:\/\/registry\.\S+)/gm

function machineNames(text: string): string[] {
  return [...text.matchAll(MACHINE_NAMES)].map(([, name]) => `names ${name}, which only one machine has`)
}
