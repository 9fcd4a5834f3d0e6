import { readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join, posix } from 'node:path'
import { moduleNames, withNames } from '../module-names.ts'
import { manifestIn, moduleOf } from '../workspace-manifest.ts'
import { CARRIED_SDK, type CarriedPackage, carriedPackage } from './carried-packages.ts'

interface CompiledFile {
  readonly carried: CarriedPackage
  /** Path within the workspace's sources, without the ending. */
  readonly module: string
  /** Code names code, and types name types. */
  readonly ending: '.js' | '.d.ts'
}

/**
 * The files that the SDK's entries reach, by their paths in the published package. What they import from another
 * workspace, they import by a relative path there. Whatever is neither carried nor Node's is an error: it would be a
 * runtime dependency.
 */
export function bundledModules(root: string, built: string): ReadonlyMap<string, string> {
  const published = new Map<string, string>()
  const manifest = manifestIn(root, CARRIED_SDK.folder)
  const waiting: CompiledFile[] = Object.values(manifest.exports ?? {}).flatMap((source) => {
    const module = moduleOf(manifest, source)
    return (['.js', '.d.ts'] as const).map((ending) => ({ carried: CARRIED_SDK, module, ending }))
  })
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    const path = publishedPath(file)
    if (published.has(path)) continue
    const { text, reached } = readCompiled(root, built, file)
    published.set(path, text)
    waiting.push(...reached)
  }
  return published
}

function publishedPath({ carried, module, ending }: CompiledFile): string {
  return `dist/${carried.as}/${module}${ending}`
}

interface ReadFile {
  /** With its imports as they are in the published package. */
  readonly text: string
  readonly reached: readonly CompiledFile[]
}

function readCompiled(root: string, built: string, file: CompiledFile): ReadFile {
  const path = join(built, file.carried.folder, 'src', file.module + file.ending)
  const compiled = readFileSync(path, 'utf8')
  const reached: CompiledFile[] = []
  const text = withNames(compiled, moduleNames(path, compiled), (name) => {
    if (isBuiltin(name)) return name
    const target = targetOf(root, file, name)
    reached.push(target)
    return relativeName(file, target)
  })
  return { text, reached }
}

function targetOf(root: string, { carried, module, ending }: CompiledFile, name: string): CompiledFile {
  if (name.startsWith('.')) {
    const path = posix.join(posix.dirname(module), name)
    // Declarations keep the sources' names.
    return { carried, module: path.replace(/\.(js|ts)$/, ''), ending }
  }
  const [packageName, entry] = splitName(name)
  const other = carriedPackage(packageName)
  const manifest = manifestIn(root, other.folder)
  return { carried: other, module: moduleOf(manifest, manifest.exports?.[entry]), ending }
}

/** `@scope/name/entry` is the entry `./entry` of `@scope/name`. */
function splitName(name: string): readonly [packageName: string, entry: string] {
  const length = name.startsWith('@') ? 2 : 1
  const parts = name.split('/')
  return [parts.slice(0, length).join('/'), ['.', ...parts.slice(length)].join('/')]
}

function relativeName(from: CompiledFile, to: CompiledFile): string {
  const folder = posix.dirname(publishedPath(from))
  // TypeScript finds x.d.ts by the name x.js, as Node finds the code.
  const path = posix.relative(folder, publishedPath({ ...to, ending: '.js' }))
  return path.startsWith('.') ? path : `./${path}`
}
