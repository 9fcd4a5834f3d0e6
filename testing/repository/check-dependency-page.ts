import { LAYERS } from './layers.ts'
import { lockedPackages, resolvePackage } from './lockfile.ts'
import {
  isOptionalPeer,
  readManifests,
  runtimeDependencies,
  type SourceTree,
  type Violation,
} from './source-tree.ts'

export const DEPENDENCY_PAGE = 'docs/decisions/dependencies.md'

/** Every runtime dependency stands on the page with its reasons, and the page names no other. */
export function checkDependencyPage(tree: SourceTree): Violation[] {
  const rows = readRows(tree.get(DEPENDENCY_PAGE) ?? '')
  const wanted = findUsers(tree)
  const missing = [...wanted.keys()].filter((name) => !rows.has(name)).map((name) => `${name} has no row`)
  const idle = [...rows.keys()].filter((name) => !wanted.has(name)).map((name) => `nothing uses ${name}`)
  const wrong = [...rows].flatMap(([name, row]) => rowFaults(name, row, tree, wanted.get(name) ?? []))
  return [...missing, ...idle, ...wrong].map((detail) => ({
    rule: 'dependency-page',
    path: DEPENDENCY_PAGE,
    detail,
  }))
}

interface Row {
  readonly users: string
  readonly brings: string
  readonly cells: readonly string[]
}

/** Rows of the table: dependency, used by, saves, brings, kept by, to remove it. */
function readRows(page: string): ReadonlyMap<string, Row> {
  const rows = new Map<string, Row>()
  for (const line of page.split('\n')) {
    const cells = line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim())
    const name = /^`([^`]+)`$/.exec(cells[0] ?? '')?.[1]
    if (name !== undefined) rows.set(name, { users: cells[1] ?? '', brings: cells[3] ?? '', cells })
  }
  return rows
}

/** Workspace folders by the third-party package that they need at run time. */
function findUsers(tree: SourceTree): ReadonlyMap<string, readonly string[]> {
  const users = new Map<string, string[]>()
  for (const [folder, manifest] of readManifests(tree)) {
    if (folder === '') continue
    for (const name of runtimeDependencies(manifest)) {
      if (name in LAYERS) continue
      // A peer that is not imported by the package's source is the user's own.
      const isImported = LAYERS[manifest.name]?.thirdParty.includes(name) === true
      if (isOptionalPeer(name, manifest) && !isImported) continue
      users.set(name, [...(users.get(name) ?? []), folder.replace(/^(?:packages|testing)\//, '')])
    }
  }
  return users
}

function rowFaults(name: string, row: Row, tree: SourceTree, users: readonly string[]): string[] {
  const faults: string[] = []
  if (row.cells.length !== 6 || row.cells.includes('')) faults.push(`${name} leaves a question open`)
  const wantedUsers = [...users].sort().join(', ')
  if (row.users !== wantedUsers)
    faults.push(`${name} is used by "${wantedUsers}", the page says "${row.users}"`)
  const count = String(countBrought(name, tree))
  if (row.brings !== count) faults.push(`${name} brings ${count} packages, the page says ${row.brings}`)
  return faults
}

/** How many packages come with it, all levels down, by the lockfile. */
function countBrought(name: string, tree: SourceTree): number {
  const packages = lockedPackages(tree)
  const seen = new Set<string>()
  const visit = (wanted: string, from: string): void => {
    const path = resolvePackage(packages, wanted, from)
    if (path === undefined || seen.has(path)) return
    seen.add(path)
    const { dependencies, optionalDependencies } = packages[path] ?? {}
    for (const next of Object.keys({ ...dependencies, ...optionalDependencies })) visit(next, path)
  }
  visit(name, '')
  return Math.max(seen.size - 1, 0)
}
