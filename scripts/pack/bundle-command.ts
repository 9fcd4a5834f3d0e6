import { writeFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import { licenceTexts } from '../bundle-image/licence-texts.ts'
import { CONSOLE_FOLDER, CONSOLE_MODULE } from './carried-console.ts'
import { publishedModule } from './carried-modules.ts'
import type { PublicPackage } from './public-packages.ts'
import { splitSource, toModule, type WorkspaceManifest } from './workspace-manifest.ts'

/** One folder for all of the command: a module that is loaded by its path is looked for beside the one that loads it. */
const COMMAND_FOLDER = 'dist/command'
const SETTINGS_READER = 'zod/mini'

/** The paths of a package's commands by their names. */
export function commandPaths({ bin = {} }: WorkspaceManifest): Readonly<Record<string, string>> {
  return Object.fromEntries(
    // The path has no "./", which npm takes away with a warning.
    Object.keys(bin).map((name) => [name, `${COMMAND_FOLDER}/${name}.js`]),
  )
}

/**
 * Joins our own modules of the command into a few files: to find and read four hundred took half of the CPU time of a
 * start (`counterstep keys list`, 400 ms, and 230 ms of the bundle). What others publish stays where npm has put it, but for
 * the part of zod that reads the settings. Loaded from there it is a hundred modules, which take 75 ms of CPU time of each start;
 * in the bundle it takes 11 of 320 (`counterstep serve --port x`).
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
  const { metafile } = buildSync({
    // Otherwise the files' names depend on where they are made.
    absWorkingDir: folder,
    entryPoints: Object.fromEntries([...commands, ...loaded].map(([name, path]) => [name, `./${path}.js`])),
    outdir: COMMAND_FOLDER,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    // It finds the console beside itself.
    external: [`./${CONSOLE_FOLDER}/${CONSOLE_MODULE}.js`],
    alias: { [SETTINGS_READER]: fileURLToPath(import.meta.resolve(SETTINGS_READER)) },
    metafile: true,
    // Identifiers stay, for stack traces; the comments that name the folder of the build go.
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none',
    logLevel: 'warning',
  })
  writeFileSync(join(folder, COMMAND_FOLDER, 'THIRD-PARTY-LICENSES'), licenceTexts(folder, metafile))
}
