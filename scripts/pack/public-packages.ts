import { manifestIn, type WorkspaceManifest } from './workspace-manifest.ts'

/** A workspace that users install from a registry. Whatever is not listed here is never published. */
export interface PublicPackage {
  readonly name: string
  /** From the repository's root. */
  readonly folder: string
}

export const SDK: PublicPackage = { name: '@counterstep/sdk', folder: 'sdk' }

/** One line each; the order is of no matter. */
export const PUBLIC_PACKAGES: readonly PublicPackage[] = [
  SDK,
  { name: 'counterstep', folder: 'packages/cli' },
  ...[
    'access',
    'branch-http',
    'configuration',
    'core',
    'dtm',
    'embedded',
    'engine',
    'protocol',
    'server',
    'signature',
    'store-mysql',
    'store-redis',
    'store-sqlite',
    'targets',
  ].map((name) => ({ name: `@counterstep/${name}`, folder: `packages/${name}` })),
]

export interface Publication extends PublicPackage {
  readonly manifest: WorkspaceManifest
}

/**
 * All of them, each after those that it needs: so that a registry never has a package whose dependencies it has not.
 * They have one version, and need each other, and no private workspace, in exactly that.
 */
export function publications(root: string): readonly Publication[] {
  const all = new Map(
    PUBLIC_PACKAGES.map((each) => [each.name, { ...each, manifest: manifestIn(root, each.folder) }]),
  )
  const ordered = new Map<string, Publication>()
  const visit = (publication: Publication): void => {
    for (const [name, version] of Object.entries(publication.manifest.dependencies ?? {})) {
      if (!isOurs(name)) continue
      const needed = all.get(name)
      if (needed === undefined) throw new Error(`${publication.name} needs ${name}, which is not public`)
      if (version !== needed.manifest.version)
        throw new Error(`${publication.name} needs ${name} ${version}, not ${needed.manifest.version}`)
      visit(needed)
    }
    ordered.set(publication.name, publication)
  }
  for (const publication of all.values()) {
    if (publication.manifest.name !== publication.name)
      throw new Error(`${publication.folder} is ${publication.manifest.name}, not ${publication.name}`)
    visit(publication)
  }
  const versions = new Set([...ordered.values()].map(({ manifest }) => manifest.version))
  if (versions.size !== 1) throw new Error(`the packages have several versions: ${[...versions].join(', ')}`)
  return [...ordered.values()]
}

export function isOurs(name: string): boolean {
  return name === 'counterstep' || name.startsWith('@counterstep/')
}
