import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'

/** Paths from the repository's root, with slashes, and their text. */
export type SourceTree = ReadonlyMap<string, string>

export interface Violation {
  readonly rule: string
  readonly path: string
  readonly detail: string
}

export const REPOSITORY = join(import.meta.dirname, '../..')

const FOLDERS_LEFT_OUT = new Set(['node_modules', 'dist', '.git', '.data', '.tmp', 'coverage'])
const ENDINGS = ['.ts', '.tsx', '.mjs', '.json', '.md', '.sql', '.lua', '.yml', '.yaml']

export function readRepository(root: string = REPOSITORY): SourceTree {
  const files = new Map<string, string>()
  const visit = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name)
      if (entry.isDirectory() && !FOLDERS_LEFT_OUT.has(entry.name)) visit(path)
      else if (entry.isFile() && ENDINGS.some((ending) => entry.name.endsWith(ending))) {
        files.set(relative(root, path).split(sep).join('/'), readFileSync(path, 'utf8'))
      }
    }
  }
  visit(root)
  return files
}

export function isCode(path: string): boolean {
  return /\.(?:tsx?|mjs)$/.test(path)
}

export function isTest(path: string): boolean {
  return path.endsWith('.test.ts') || path.includes('/test/') || path.startsWith('test/')
}

export interface Manifest {
  readonly name: string
  readonly exports?: Readonly<Record<string, unknown>>
  readonly scripts?: Readonly<Record<string, string>>
  readonly engines?: Readonly<Record<string, string>>
  readonly workspaces?: readonly string[]
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

/** The package.json of every workspace by its folder; the root's has the folder "". One beside a lockfile is none. */
export function readManifests(tree: SourceTree): ReadonlyMap<string, Manifest> {
  const manifests = new Map<string, Manifest>()
  for (const [path, text] of tree) {
    if (!/(^|\/)package\.json$/.test(path)) continue
    const folder = path.replace(/\/?package\.json$/, '')
    if (folder !== '' && tree.has(`${folder}/package-lock.json`)) continue
    manifests.set(folder, JSON.parse(text) as Manifest)
  }
  return manifests
}

/** Whether it only says which versions of a package will do, should the user have it: nothing installs it. */
export function isOptionalPeer(name: string, { peerDependencies, peerDependenciesMeta }: Manifest): boolean {
  return peerDependencies?.[name] !== undefined && peerDependenciesMeta?.[name]?.optional === true
}

export function runtimeDependencies(manifest: Manifest): readonly string[] {
  const { dependencies, peerDependencies, optionalDependencies } = manifest
  return [...new Set(Object.keys({ ...dependencies, ...peerDependencies, ...optionalDependencies }))]
}
