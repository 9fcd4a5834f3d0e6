import { commandPaths } from './bundle-command.ts'
import { publishedModule } from './carried-modules.ts'
import { isOurs, type Publication } from './public-packages.ts'
import { moduleOf, type WorkspaceManifest } from './workspace-manifest.ts'

const REPOSITORY = 'https://github.com/counterstep/counterstep'

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
  'peerDependencies',
  'peerDependenciesMeta',
]

export interface PublishedParts {
  /** The manifests of the workspaces whose files the package carries. */
  readonly carried: readonly WorkspaceManifest[]
  /** The workspace that has the command. */
  readonly command: WorkspaceManifest | undefined
  /** All that has what is published. */
  readonly files: readonly string[]
}

/**
 * The package.json that is published. The workspace's own leads to the sources, which everything in the repository
 * runs from, and is private, so that nobody publishes it by mistake.
 */
export function publishedManifest(
  { folder, manifest }: Publication,
  { carried, command, files }: PublishedParts,
): object {
  const kept = Object.fromEntries(
    KEPT.flatMap((field) => (field in manifest ? [[field, manifest[field]]] : [])),
  )
  const entries = Object.entries(manifest.exports ?? {}).map(([entry, source]) => {
    const path = `./${publishedModule(folder, moduleOf(manifest, source))}`
    // "default", not "import": every Node that the package runs on can also require() it.
    return [entry, { types: `${path}.d.ts`, default: `${path}.js` }]
  })
  const dependencies = wantedDependencies(carried)
  return {
    ...kept,
    homepage: `${REPOSITORY}#readme`,
    repository: { type: 'git', url: `git+${REPOSITORY}.git`, directory: folder },
    bugs: { url: `${REPOSITORY}/issues` },
    ...(command === undefined ? {} : { bin: commandPaths(command) }),
    exports: { ...Object.fromEntries(entries), './package.json': './package.json' },
    files,
    ...(Object.keys(dependencies).length === 0 ? {} : { dependencies }),
    // A scoped package is private unless it says so.
    publishConfig: { access: 'public' },
  }
}

/**
 * What the carried files need from the registry: any later minor version too, so that a user's app has one copy of each,
 * and a patch need not wait for a release of ours. The versions that our tests ran with are the lowest.
 */
function wantedDependencies(carried: readonly WorkspaceManifest[]): Readonly<Record<string, string>> {
  const wanted = carried.flatMap(({ dependencies = {} }) =>
    Object.entries(dependencies).filter(([name]) => !isOurs(name)),
  )
  const versions = new Map<string, string>()
  for (const [name, version] of wanted) {
    if ((versions.get(name) ?? version) !== version) throw new Error(`${name} is wanted in two versions`)
    versions.set(name, version)
  }
  return Object.fromEntries(
    [...versions]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, version]) => [name, `^${version}`]),
  )
}
