import { readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join, posix } from 'node:path'
import { CONSOLE_ASSETS, CONSOLE_MODULE, CONSOLE_TEXTS } from './carried-console.ts'
import { moduleNames, withNames } from './module-names.ts'
import { isOurs, type PublicPackage } from './public-packages.ts'
import { workspaceFolders } from './workspace-folders.ts'
import { manifestIn, splitSource, toModule, type WorkspaceManifest } from './workspace-manifest.ts'

interface Workspace {
  /** The path from the repository's root. */
  readonly folder: string
  readonly manifest: WorkspaceManifest
}

interface CompiledFile {
  readonly workspace: Workspace
  /** Path within the workspace's sources, without the ending. */
  readonly module: string
  /** Code names code, and types name types. */
  readonly ending: '.js' | '.d.ts'
}

export interface Carried {
  /** The texts of the package's modules by their paths in it. */
  readonly files: ReadonlyMap<string, string>
  /** The paths of those that the command reaches and no entry. */
  readonly commandOnly: readonly string[]
  /** The manifests of the workspaces that they come from. */
  readonly manifests: readonly WorkspaceManifest[]
}

/**
 * Collects the files that the entries of a package reach. Modules of another workspace are imported by a relative path
 * in the package, so that it has one copy of each.
 */
export function carriedModules(root: string, built: string, published: PublicPackage): Carried {
  const workspaces = readWorkspaces(root)
  const files = new Map<string, string>()
  const manifests = new Set<WorkspaceManifest>()
  const carry = (starting: readonly StartingModule[]) => {
    const waiting = starting.flatMap((each) =>
      (['.js', '.d.ts'] as const).map((ending): CompiledFile => ({ ...each, ending })),
    )
    for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
      const path = publishedPath(file)
      if (files.has(path)) continue
      const { text, reached } = readCompiled(built, workspaces, file, isLoadedByPath(file, published))
      files.set(path, text)
      manifests.add(file.workspace.manifest)
      waiting.push(...reached)
    }
  }
  carry(modulesOfEntries(workspaces, published))
  const ofEntries = files.size
  carry(modulesOfCommand(workspaces, published))
  return { files, commandOnly: [...files.keys()].slice(ofEntries), manifests: [...manifests] }
}

/** Returns the path of a workspace's module in a package, without the ending. */
export function publishedModule(folder: string, module: string): string {
  return `dist/${posix.basename(folder)}/${module}`
}

function readWorkspaces(root: string): readonly Workspace[] {
  return workspaceFolders(root).map((folder) => ({ folder, manifest: manifestIn(root, folder) }))
}

type StartingModule = Omit<CompiledFile, 'ending'>

/** The modules of the entries, and those that are loaded by their paths. */
function modulesOfEntries(
  workspaces: readonly Workspace[],
  { folder, loadedByPath = [] }: PublicPackage,
): readonly StartingModule[] {
  const entries = workspaceIn(workspaces, folder)
  return [
    ...modulesNamed(entries, entries.manifest.exports),
    ...loadedByPath.map(splitSource).map((source) => ({
      workspace: workspaceIn(workspaces, source.folder),
      module: source.module,
    })),
  ]
}

function modulesOfCommand(
  workspaces: readonly Workspace[],
  { commandFolder }: PublicPackage,
): readonly StartingModule[] {
  if (commandFolder === undefined) return []
  const command = workspaceIn(workspaces, commandFolder)
  return modulesNamed(command, command.manifest.bin)
}

function modulesNamed(
  workspace: Workspace,
  named: Readonly<Record<string, string>> = {},
): readonly StartingModule[] {
  return Object.values(named).map((source) => ({ workspace, module: toModule(workspace.manifest, source) }))
}

function workspaceIn(workspaces: readonly Workspace[], folder: string): Workspace {
  const found = workspaces.find((each) => each.folder === folder)
  if (found === undefined) throw new Error(`there is no workspace ${folder}`)
  return found
}

function publishedPath({ workspace, module, ending }: CompiledFile): string {
  return publishedModule(workspace.folder, module) + ending
}

interface ReadFile {
  /** The code, whose imports are as they are in the published package. */
  readonly text: string
  readonly reached: readonly CompiledFile[]
}

function isLoadedByPath({ workspace, module }: CompiledFile, { loadedByPath = [] }: PublicPackage): boolean {
  return loadedByPath.includes(`${workspace.folder}/src/${module}.ts`)
}

function readCompiled(
  built: string,
  workspaces: readonly Workspace[],
  file: CompiledFile,
  mayCompute: boolean,
): ReadFile {
  if (isConsole(file)) return { text: CONSOLE_TEXTS[file.ending], reached: [] }
  const path = join(built, file.workspace.folder, 'src', file.module + file.ending)
  const compiled = readFileSync(path, 'utf8')
  const reached: CompiledFile[] = []
  const text = withNames(compiled, moduleNames(path, compiled, mayCompute), (name) => {
    if (!name.startsWith('.') && (isBuiltin(name) || !isOurs(toPackageName(name)))) return name
    const target = resolveTarget(workspaces, file, name)
    reached.push(target)
    return relativeName(file, target)
  })
  return { text, reached }
}

function resolveTarget(
  workspaces: readonly Workspace[],
  { workspace, module, ending }: CompiledFile,
  name: string,
): CompiledFile {
  if (name.startsWith('.')) {
    const path = posix.join(posix.dirname(module), name)
    // Declarations keep the sources' names.
    return { workspace, module: path.replace(/\.(js|ts)$/, ''), ending }
  }
  const packageName = toPackageName(name)
  const other = workspaces.find(({ manifest }) => manifest.name === packageName)
  if (other === undefined) throw new Error(`there is no workspace ${packageName}`)
  if (name === CONSOLE_ASSETS) return { workspace: other, module: CONSOLE_MODULE, ending }
  const entry = `.${name.slice(packageName.length)}`
  return { workspace: other, module: toModule(other.manifest, other.manifest.exports?.[entry]), ending }
}

function isConsole({ workspace }: CompiledFile): boolean {
  return workspace.manifest.name === toPackageName(CONSOLE_ASSETS)
}

/** `@scope/name/entry` is an entry of `@scope/name`. */
function toPackageName(name: string): string {
  return name.split('/', name.startsWith('@') ? 2 : 1).join('/')
}

function relativeName(from: CompiledFile, to: CompiledFile): string {
  const folder = posix.dirname(publishedPath(from))
  // TypeScript finds x.d.ts by the name x.js, as Node finds the code.
  const path = posix.relative(folder, publishedPath({ ...to, ending: '.js' }))
  return path.startsWith('.') ? path : `./${path}`
}
