import { commandPaths } from './bundle-command.ts'
import { publishedModule } from './carried-modules.ts'
import { commonJsPath } from './commonjs-modules.ts'
import { isOurs, type Publication } from './public-packages.ts'
import { toModule, type WorkspaceManifest } from './workspace-manifest.ts'

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
 * Makes the package.json that is published. The workspace's own leads to the sources, which everything in the
 * repository runs from, and is private, so that it is not published by mistake.
 */
export function publishedManifest(
  publication: Publication,
  { carried, command, files }: PublishedParts,
): object {
  const { folder, manifest } = publication
  const kept = Object.fromEntries(
    KEPT.flatMap((field) => (field in manifest ? [[field, manifest[field]]] : [])),
  )
  const dependencies = wantedDependencies(carried)
  return {
    ...kept,
    homepage: `${REPOSITORY}#readme`,
    repository: { type: 'git', url: `git+${REPOSITORY}.git`, directory: folder },
    bugs: { url: `${REPOSITORY}/issues` },
    ...(command === undefined ? {} : { bin: commandPaths(command) }),
    ...entryFields(publication),
    files,
    ...(Object.keys(dependencies).length === 0 ? {} : { dependencies }),
    // A scoped package is private unless it says so.
    publishConfig: { access: 'public' },
  }
}

/** The fields that lead to the entries. */
function entryFields({ folder, manifest, hasCommonJs }: Publication): object {
  const paths = Object.entries(manifest.exports ?? {}).map(
    ([entry, source]) => [entry, publishedModule(folder, toModule(manifest, source))] as const,
  )
  const exported = Object.fromEntries(
    paths.map(([entry, path]) => [entry, hasCommonJs ? bothConditions(path) : toTargets(path)]),
  )
  const exports = { ...exported, './package.json': './package.json' }
  return hasCommonJs ? { ...fieldsBeforeExports(paths), exports } : { exports }
}

/** Unconditional, not for "import" alone: every Node that `counterstep` runs on can also require() an ES module. */
function toTargets(path: string): object {
  return { types: `./${path}.d.ts`, default: `./${path}.js` }
}

function bothConditions(path: string): object {
  return { import: toTargets(path), require: toTargets(commonJsPath(path)) }
}

/** TypeScript reads these fields with `moduleResolution: node`, which knows no `exports`. */
function fieldsBeforeExports(paths: readonly (readonly [entry: string, path: string])[]): object {
  const named = paths.map(([entry, path]) => [entry.slice(2), commonJsPath(path)] as const)
  const main = named.find(([entry]) => entry === '')?.[1]
  const others = named.filter(([entry]) => entry !== '')
  return {
    main: `./${main}.js`,
    types: `./${main}.d.ts`,
    typesVersions: { '*': Object.fromEntries(others.map(([entry, path]) => [entry, [`./${path}.d.ts`]])) },
  }
}

/**
 * The packages that the carried files need from the registry: any later minor version too, so that a user's app has one copy of each,
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
