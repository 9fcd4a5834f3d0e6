import { LAYERS } from './layers.ts'
import {
  isOptionalPeer,
  type Manifest,
  readManifests,
  runtimeDependencies,
  type SourceTree,
  type Violation,
} from './source-tree.ts'

/** Checks what every package.json declares: only allowed workspaces and packages, in exact versions. */
export function checkManifests(tree: SourceTree): Violation[] {
  return [...readManifests(tree)].flatMap(([folder, manifest]) => {
    const path = folder === '' ? 'package.json' : `${folder}/package.json`
    const faults = [...versionFaults(manifest), ...(folder === '' ? [] : layerFaults(folder, manifest))]
    return faults.map((fault) => ({ path, ...fault }))
  })
}

type Fault = Omit<Violation, 'path'>

function layerFaults(folder: string, manifest: Manifest): Fault[] {
  const layer = LAYERS[manifest.name]
  if (layer === undefined || layer.folder !== folder) {
    return [{ rule: 'unknown-workspace', detail: `${manifest.name} has no row in the layers` }]
  }
  const runtime = runtimeDependencies(manifest).filter((name) => !layer.workspaces.includes(name))
  const development = Object.keys(manifest.devDependencies ?? {})
    .filter(isWorkspace)
    .filter((name) => ![...layer.workspaces, ...layer.testWorkspaces].includes(name))
  return [
    ...[...runtime.filter(isWorkspace), ...development].map((name) => ({
      rule: 'layers',
      detail: `${manifest.name} must not depend on ${name}`,
    })),
    ...runtime
      .filter((name) => !isWorkspace(name) && !layer.thirdParty.includes(name))
      // Its source may not import one either: the user hands over what belongs to it.
      .filter((name) => !isOptionalPeer(name, manifest))
      .map((name) => ({ rule: 'no-third-party', detail: `${manifest.name} must not depend on ${name}` })),
  ]
}

function isWorkspace(name: string): boolean {
  return name in LAYERS || name.startsWith('@counterstep/')
}

/** Peer dependencies may be ranges: they say what a user's version may be, and install nothing. */
function versionFaults(manifest: Manifest): Fault[] {
  const { dependencies, devDependencies, optionalDependencies } = manifest
  return Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies })
    .filter(([, version]) => !/^(npm:[a-z0-9@/-]+@)?\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(version))
    .map(([name, version]) => ({ rule: 'exact-versions', detail: `${name} is "${version}"` }))
}
