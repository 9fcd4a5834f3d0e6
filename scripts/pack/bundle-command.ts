import { posix } from 'node:path'
import { buildSync } from 'esbuild'
import { publishedModule } from './carried-modules.ts'
import type { PublicPackage } from './public-packages.ts'
import { splitSource, toModule, type WorkspaceManifest } from './workspace-manifest.ts'

/** One folder for all of the command: a module that is loaded by its path is looked for beside the one that loads it. */
const COMMAND_FOLDER = 'dist/command'

/** The paths of a package's commands by their names. */
export function commandPaths({ bin = {} }: WorkspaceManifest): Readonly<Record<string, string>> {
  return Object.fromEntries(
    // The path has no "./", which npm takes away with a warning.
    Object.keys(bin).map((name) => [name, `${COMMAND_FOLDER}/${name}.js`]),
  )
}

/**
 * Joins our own modules of the command into a few files: to find and read four hundred took half of the CPU time of a
 * start (`counterstep keys list`, 400 ms, and 230 ms of the bundle). Modules of other packages stay where npm has put
 * them.
 */
export function bundleCommand(
  folder: string,
  { commandFolder = '', loadedByPath = [] }: PublicPackage,
  command: WorkspaceManifest,
): void {
  const commands = Object.entries(command.bin ?? {}).map(([name, source]) => [
    name,
    publishedModule(commandFolder, toModule(command, source)),
  ])
  const loaded = loadedByPath
    .map(splitSource)
    .map((source) => [posix.basename(source.module), publishedModule(source.folder, source.module)])
  buildSync({
    // Otherwise the files' names depend on where they are made.
    absWorkingDir: folder,
    entryPoints: Object.fromEntries([...commands, ...loaded].map(([name, path]) => [name, `./${path}.js`])),
    outdir: COMMAND_FOLDER,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    // Identifiers stay, for stack traces; the comments that name the folder of the build go.
    minifyWhitespace: true,
    legalComments: 'none',
    logLevel: 'warning',
  })
}
