import { entryModule, manifestOf, SDK } from './carried-packages.ts'

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
  'publishConfig',
]

/**
 * The package.json that is published. The workspace's own leads to the sources, which everything in the repository
 * runs from, and is private, so that nobody publishes it by mistake.
 */
export function publishedManifest(root: string): object {
  const manifest = manifestOf(root, SDK)
  const kept = Object.fromEntries(
    KEPT.flatMap((field) => (field in manifest ? [[field, manifest[field]]] : [])),
  )
  const entries = Object.keys(manifest.exports).map((entry) => {
    const path = `./dist/${SDK.as}/${entryModule(manifest, entry)}`
    // "default", not "import": every Node that the package runs on can also require() it.
    return [entry, { types: `${path}.d.ts`, default: `${path}.js` }]
  })
  return {
    ...kept,
    exports: { ...Object.fromEntries(entries), './package.json': './package.json' },
    files: ['dist', 'docs'],
  }
}
