import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface WorkspaceManifest {
  readonly name: string
  readonly version: string
  readonly exports?: Readonly<Record<string, string>>
  readonly bin?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly [field: string]: unknown
}

/** `folder` is from the repository's root. */
export function manifestIn(root: string, folder: string): WorkspaceManifest {
  return JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
}

/** A module of a workspace by its source: its path within `src`, without an ending. */
export function toModule(manifest: WorkspaceManifest, source: string | undefined): string {
  const module = /^\.\/src\/(.+)\.ts$/.exec(source ?? '')?.[1]
  if (module === undefined) throw new Error(`${manifest.name} has no source ${source}`)
  return module
}

/** The place of a source by its path from the repository's root: its workspace's folder, and its path within `src` without an ending. */
export function splitSource(path: string): { readonly folder: string; readonly module: string } {
  const found = /^(.+)\/src\/(.+)\.ts$/.exec(path)
  if (found === null) throw new Error(`${path} is no source of a workspace`)
  const [, folder = '', module = ''] = found
  return { folder, module }
}
