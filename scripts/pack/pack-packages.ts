import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compile } from './compile.ts'
import type { Publication } from './public-packages.ts'
import { type Packed, runNpmPack } from './run-npm-pack.ts'
import { stagePackage } from './stage-package.ts'
import { splitSource } from './workspace-manifest.ts'

/** Writes the packages that users install, in their order, into a folder. */
export function packPackages(
  root: string,
  publications: readonly Publication[],
  into: string,
): readonly Packed[] {
  const folder = mkdtempSync(join(tmpdir(), 'counterstep-pack-'))
  const [built, staged] = [join(folder, 'built'), join(folder, 'staged')]
  try {
    for (const each of [built, staged, into]) mkdirSync(each, { recursive: true })
    compile(
      root,
      publications.flatMap(({ folder, commandFolder = folder, loadedByPath = [] }) => [
        folder,
        commandFolder,
        ...loadedByPath.map((path) => splitSource(path).folder),
      ]),
      built,
    )
    const folders = publications.map((publication, index) => {
      const own = `${index}`
      stagePackage({ root, built }, publication, join(staged, own))
      return own
    })
    return runNpmPack(staged, folders, into)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
