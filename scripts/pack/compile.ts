import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { workspaceFolders } from './workspace-folders.ts'
import { manifestIn } from './workspace-manifest.ts'

/**
 * Compiles the sources of these workspaces, and all that they reach in others, into a folder of its own: the files in
 * `dist` may be left over from sources that are gone, or belong to a build that is still running. `into` gets the tree
 * of the repository.
 */
export function compile(root: string, folders: readonly string[], into: string): void {
  const compilerOptions = {
    composite: false,
    declaration: true,
    // The sources are not in the package: a map would lead nowhere, and one that holds them doubles its size.
    sourceMap: false,
    noEmitOnError: true,
    rootDir: root,
    outDir: into,
    typeRoots: [join(root, 'node_modules', '@types')],
    // The compiler does not emit modules that it finds in node_modules, and would find these there.
    paths: findSources(root),
  }
  const config = join(into, 'tsconfig.json')
  const include = folders.map((folder) => join(root, folder, 'src'))
  const exclude = include.map((folder) => join(folder, '**', '*.test.ts'))
  const base = join(root, 'tsconfig.base.json')
  writeFileSync(config, JSON.stringify({ extends: base, compilerOptions, include, exclude }))
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  // Several checkers, its default, end sooner only where cores are idle, and each checks again what they share: four
  // took a half more of CPU time.
  const args = [compiler, '--project', config, '--checkers', '1']
  const { status, stdout, stderr, error } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' })
  if (error !== undefined) throw error
  if (status !== 0) throw new Error(`the packages do not compile:\n${stdout}${stderr}`)
}

/** Finds the source of each entry of each workspace. */
function findSources(root: string): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(
    workspaceFolders(root).flatMap((folder) => {
      const { name, exports = {} } = manifestIn(root, folder)
      return Object.entries(exports).map(([entry, path]) => [
        name + entry.slice(1),
        [join(root, folder, path)],
      ])
    }),
  )
}
