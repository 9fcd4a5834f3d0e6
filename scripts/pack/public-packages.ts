import { manifestIn, type WorkspaceManifest } from './workspace-manifest.ts'

/** A package that users install. It carries the compiled files of every workspace that its entries reach. */
export interface PublicPackage {
  readonly name: string
  /** The workspace whose `exports` are the package's entries, from the repository's root. */
  readonly folder: string
  /** The workspace whose `bin` is the package's command, if it has one. */
  readonly commandFolder?: string
  /** Modules that are loaded by their paths, so that no import leads to them, and that may load others so. */
  readonly loadedByPath?: readonly string[]
  /** Whether it has each module a second time, as CommonJS, for what cannot load an ES module or read its types. */
  readonly hasCommonJs?: true
}

export const SDK: PublicPackage = { name: '@counterstep/sdk', folder: 'sdk', hasCommonJs: true }

export const COUNTERSTEP: PublicPackage = {
  name: 'counterstep',
  folder: 'packages/counterstep',
  commandFolder: 'packages/cli',
  loadedByPath: ['node-driver', 'sqlite-reader', 'sqlite-worker'].map(
    (name) => `packages/store-sqlite/src/${name}.ts`,
  ),
}

/** Whatever is not listed here is never published. */
export const PUBLIC_PACKAGES: readonly PublicPackage[] = [SDK, COUNTERSTEP]

export interface Publication extends PublicPackage {
  readonly manifest: WorkspaceManifest
}

/** The packages with what their workspaces say of them. They have one version. */
export function publications(root: string): readonly Publication[] {
  const all = PUBLIC_PACKAGES.map((each) => ({ ...each, manifest: manifestIn(root, each.folder) }))
  for (const { name, folder, manifest } of all) {
    if (manifest.name !== name) throw new Error(`${folder} is ${manifest.name}, not ${name}`)
  }
  const versions = new Set(all.map(({ manifest }) => manifest.version))
  if (versions.size !== 1) throw new Error(`the packages have several versions: ${[...versions].join(', ')}`)
  return all
}

export function isOurs(name: string): boolean {
  return name === 'counterstep' || name.startsWith('@counterstep/')
}
