import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A workspace whose compiled files are in the published package. */
export interface CarriedPackage {
  readonly name: string
  /** From the repository's root. */
  readonly folder: string
  /** Within the published package's `dist`. */
  readonly as: string
}

export const SDK: CarriedPackage = { name: '@counterstep/sdk', folder: 'sdk', as: 'sdk' }

export const CARRIED: readonly CarriedPackage[] = [
  SDK,
  { name: '@counterstep/barrier', folder: 'packages/barrier', as: 'barrier' },
  { name: '@counterstep/protocol', folder: 'packages/protocol', as: 'protocol' },
  { name: '@counterstep/signature', folder: 'packages/signature', as: 'signature' },
]

export function carriedPackage(name: string): CarriedPackage {
  const found = CARRIED.find((each) => each.name === name)
  if (found === undefined) throw new Error(`${name} is not carried by the package`)
  return found
}

export interface WorkspaceManifest {
  readonly name: string
  readonly version: string
  readonly exports: Readonly<Record<string, string>>
  readonly [field: string]: unknown
}

export function manifestOf(root: string, { folder }: CarriedPackage): WorkspaceManifest {
  return JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
}

/** A module of a workspace: its path within `dist`, without an ending. */
export function entryModule(manifest: WorkspaceManifest, entry: string): string {
  const source = /^\.\/src\/(.+)\.ts$/.exec(manifest.exports[entry] ?? '')?.[1]
  if (source === undefined) throw new Error(`${manifest.name} has no entry ${entry}`)
  return source
}
