import type { SourceTree, Violation } from './source-tree.ts'

export interface LockedPackage {
  readonly version?: string
  readonly resolved?: string
  readonly link?: boolean
  readonly integrity?: string
  readonly hasInstallScript?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

/** Entries of the lockfile by their path, e.g. `node_modules/zod`. */
export type LockedPackages = Readonly<Record<string, LockedPackage>>

const LOCKFILE = 'package-lock.json'

export function lockedPackages(tree: SourceTree, path = LOCKFILE): LockedPackages {
  const lock = JSON.parse(tree.get(path) ?? '{}') as { readonly packages?: LockedPackages }
  return lock.packages ?? {}
}

/** Resolves a package like Node: the nearest node_modules upward that has it. */
export function resolvePackage(packages: LockedPackages, name: string, from: string): string | undefined {
  let folder = from
  while (true) {
    const path = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`
    if (path in packages) return path
    if (folder === '') return undefined
    folder = folder.slice(0, Math.max(folder.lastIndexOf('/node_modules/'), 0))
  }
}

/** The lockfile installs anywhere, from any registry: it names no address and leaves nothing out. */
export function checkLockfile(tree: SourceTree): Violation[] {
  const packages = lockedPackages(tree)
  return Object.entries(packages).flatMap(([name, entry]) => [
    ...addressFaults(name, entry),
    ...gapFaults(packages, name, entry),
  ])
}

function addressFaults(name: string, { resolved, link }: LockedPackage): Violation[] {
  if (resolved === undefined || (link === true && !resolved.includes(':'))) return []
  return [{ rule: 'no-registry-host', path: LOCKFILE, detail: `${name} is from ${resolved}` }]
}

// npm leaves out what the registry did not have for another platform, and then `npm ci` refuses the whole file.
function gapFaults(packages: LockedPackages, name: string, entry: LockedPackage): Violation[] {
  return Object.keys({ ...entry.dependencies, ...entry.optionalDependencies })
    .filter((wanted) => resolvePackage(packages, wanted, name) === undefined)
    .map((wanted) => ({ rule: 'whole-lockfile', path: LOCKFILE, detail: `${name} wants ${wanted}` }))
}
