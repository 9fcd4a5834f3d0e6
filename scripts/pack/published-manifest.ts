import { moduleOf, type WorkspaceManifest } from './workspace-manifest.ts'

/** Fields that the workspace's package.json has as they shall be published. */
const KEPT = [
  'name',
  'version',
  'description',
  'keywords',
  'license',
  'type',
  'sideEffects',
  'engines',
  'dependencies',
  'peerDependencies',
  'peerDependenciesMeta',
]

export interface PublishedFolders {
  /** Where the modules of its `src` are in the package. */
  readonly modules: string
  /** All that has what is published. */
  readonly files: readonly string[]
}

/**
 * The package.json that is published. The workspace's own leads to the sources, which everything in the repository
 * runs from, and is private, so that nobody publishes it by mistake.
 */
export function publishedManifest(manifest: WorkspaceManifest, { modules, files }: PublishedFolders): object {
  const kept = Object.fromEntries(
    KEPT.flatMap((field) => (field in manifest ? [[field, manifest[field]]] : [])),
  )
  const entries = Object.entries(manifest.exports ?? {}).map(([entry, source]) => {
    const path = `./${modules}/${moduleOf(manifest, source)}`
    // "default", not "import": every Node that the package runs on can also require() it.
    return [entry, { types: `${path}.d.ts`, default: `${path}.js` }]
  })
  const commands = Object.entries(manifest.bin ?? {}).map(([name, source]) => [
    name,
    // Without "./", which npm takes away with a warning.
    `${modules}/${moduleOf(manifest, source)}.js`,
  ])
  return {
    ...kept,
    ...(commands.length === 0 ? {} : { bin: Object.fromEntries(commands) }),
    exports: { ...Object.fromEntries(entries), './package.json': './package.json' },
    files,
    // A scoped package is private unless it says so.
    publishConfig: { access: 'public' },
  }
}
