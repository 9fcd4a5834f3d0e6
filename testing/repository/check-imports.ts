import { isBuiltin } from 'node:module'
import { posix } from 'node:path'
import {
  COMPUTED_IMPORTS,
  ENCLAVES,
  type Enclave,
  LAYERS,
  type Layer,
  THIRD_PARTY_ENTRIES,
} from './layers.ts'
import {
  isCode,
  isTest,
  type Manifest,
  readManifests,
  type SourceTree,
  type Violation,
} from './source-tree.ts'
import { readImports } from './syntax.ts'

/** Checks the import statements of every workspace against the layers. */
export function checkImports(tree: SourceTree): Violation[] {
  const manifests = readManifests(tree)
  return Object.entries(LAYERS).flatMap(([name, layer]) =>
    filesUnder(tree, layer.folder).flatMap(([path, text]) =>
      readImports(path, text).flatMap((imported) => {
        const fault = findFault({ name, layer, path, imported, manifests })
        return fault === undefined ? [] : [{ path, ...fault }]
      }),
    ),
  )
}

interface Import {
  readonly name: string
  readonly layer: Layer
  readonly path: string
  readonly imported: string
  readonly manifests: ReadonlyMap<string, Manifest>
}

type Fault = Omit<Violation, 'path'>

function filesUnder(tree: SourceTree, folder: string): readonly (readonly [string, string])[] {
  return [...tree].filter(([path]) => path.startsWith(`${folder}/`) && isCode(path))
}

function findFault(found: Import): Fault | undefined {
  const { imported } = found
  if (imported === '<computed>') return computedFault(found)
  if (imported.startsWith('.')) return relativeFault(found)
  if (imported.startsWith('/') || imported.includes('\\')) {
    return { rule: 'no-absolute-import', detail: `imports ${imported} by an absolute path` }
  }
  if (isBuiltin(imported)) return builtinFault(found)
  const workspace = Object.keys(LAYERS).find((name) => imported === name || imported.startsWith(`${name}/`))
  if (workspace !== undefined) return workspaceFault(found, workspace)
  if (imported.startsWith('@counterstep/')) {
    return { rule: 'unknown-workspace', detail: `imports ${imported}, which has no row in the layers` }
  }
  return thirdPartyFault(found)
}

function computedFault({ path }: Import): Fault | undefined {
  if (isTest(path) || COMPUTED_IMPORTS.has(path)) return undefined
  return { rule: 'no-computed-import', detail: 'imports a module whose name is not written down' }
}

function relativeFault({ name, layer, path, imported }: Import): Fault | undefined {
  const target = posix.join(posix.dirname(path), imported)
  const enclave = ENCLAVES[name]
  if (enclave !== undefined && target.startsWith(enclave.folder) && !isWithin(enclave, path)) {
    if (target === enclave.entry) return undefined
    return { rule: 'layers', detail: `imports ${imported}, which is not the entry of ${enclave.folder}` }
  }
  if (target.startsWith(`${layer.folder}/`)) return undefined
  return { rule: 'no-relative-import-across-packages', detail: `imports ${imported}, out of ${layer.folder}` }
}

function isWithin({ folder, outside }: Enclave, path: string): boolean {
  return path.startsWith(folder) || outside.includes(path)
}

function builtinFault({ layer, path, imported }: Import): Fault | undefined {
  if (layer.builtins || isTest(path)) return undefined
  return { rule: 'no-builtin', detail: `imports ${imported}` }
}

function workspaceFault(
  { name, layer, path, imported, manifests }: Import,
  workspace: string,
): Fault | undefined {
  const allowed = isTest(path) ? [...layer.workspaces, ...layer.testWorkspaces] : layer.workspaces
  if (workspace !== name && !allowed.includes(workspace)) {
    return { rule: 'layers', detail: `${name} must not import ${workspace}` }
  }
  const enclave = ENCLAVES[name]
  if (enclave?.workspaces.includes(workspace) && !isWithin(enclave, path)) {
    return { rule: 'layers', detail: `${name} must not import ${workspace} outside ${enclave.folder}` }
  }
  const entry = `.${imported.slice(workspace.length)}`
  const entries = manifests.get(LAYERS[workspace]?.folder ?? '')?.exports ?? {}
  if (entry === '.' || entry in entries) return undefined
  return { rule: 'no-deep-import', detail: `imports ${imported}, which is no entry of ${workspace}` }
}

function thirdPartyFault({ name, layer, path, imported, manifests }: Import): Fault | undefined {
  const packageName = imported.split('/', imported.startsWith('@') ? 2 : 1).join('/')
  if (isTest(path)) return isDeclared(packageName, layer, manifests) ? undefined : undeclared(packageName)
  const entry = THIRD_PARTY_ENTRIES[name]
  const isAllowed = layer.thirdParty.includes(packageName) && (entry === undefined || path.startsWith(entry))
  return isAllowed
    ? undefined
    : { rule: 'no-third-party', detail: `${name} must not import ${packageName} here` }
}

/** A test may use the root's tools besides its own workspace's. The linter knows only the latter, so it is off for tests. */
function isDeclared(packageName: string, layer: Layer, manifests: ReadonlyMap<string, Manifest>): boolean {
  const own = manifests.get(layer.folder)
  return (
    packageName in
    {
      ...own?.dependencies,
      ...own?.devDependencies,
      ...own?.peerDependencies,
      ...manifests.get('')?.devDependencies,
    }
  )
}

function undeclared(packageName: string): Fault {
  return { rule: 'undeclared', detail: `imports ${packageName}, which no package.json names for it` }
}
