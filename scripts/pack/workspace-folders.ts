import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { manifestIn } from './workspace-manifest.ts'

/** Lists the folders of all workspaces, from the repository's root. */
export function workspaceFolders(root: string): readonly string[] {
  const patterns = manifestIn(root, '.').workspaces as readonly string[]
  return patterns
    .flatMap((pattern) => {
      if (!pattern.endsWith('/*')) return [pattern]
      const parent = pattern.slice(0, -2)
      return readdirSync(join(root, parent)).map((name) => `${parent}/${name}`)
    })
    .filter((folder) => existsSync(join(root, folder, 'package.json')))
}
