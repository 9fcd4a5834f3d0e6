import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CARRIED, manifestOf, SDK } from './carried-packages.ts'

/**
 * Compiles the SDK's entries and all that they reach, other workspaces too, into a folder of its own: what `dist` has
 * may be left over from sources that are gone, or be in the middle of somebody else's build. `folder` gets the tree of
 * the repository.
 */
export function buildSdk(root: string, folder: string): void {
  const options = {
    composite: false,
    declaration: true,
    // The sources are not in the package: a map would lead nowhere.
    sourceMap: false,
    noEmitOnError: true,
    rootDir: root,
    outDir: folder,
    typeRoots: [join(root, 'node_modules', '@types')],
    // What it finds in node_modules, as it would find these, the compiler does not emit.
    paths: sourcesOf(root),
  }
  const config = join(folder, 'tsconfig.json')
  const files = Object.values(manifestOf(root, SDK).exports).map((path) => join(root, SDK.folder, path))
  const base = join(root, 'tsconfig.base.json')
  writeFileSync(config, JSON.stringify({ extends: base, compilerOptions: options, files }))
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const args = [compiler, '--project', config]
  const { status, stdout, stderr, error } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' })
  if (error !== undefined) throw error
  if (status !== 0) throw new Error(`the SDK does not compile:\n${stdout}${stderr}`)
}

function sourcesOf(root: string): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(
    CARRIED.flatMap((carried) => {
      const { name, exports } = manifestOf(root, carried)
      const sources = Object.entries(exports)
      return sources.map(([entry, path]) => [name + entry.slice(1), [join(root, carried.folder, path)]])
    }),
  )
}
