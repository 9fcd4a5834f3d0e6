import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

export interface PackedFile {
  readonly path: string
  readonly size: number
}

/** A tarball, and what npm says of it. */
export interface Packed {
  readonly name: string
  readonly version: string
  readonly tarball: string
  readonly packedBytes: number
  readonly unpackedBytes: number
  readonly files: readonly PackedFile[]
}

interface Report extends Pick<Packed, 'name' | 'version' | 'files'> {
  readonly filename: string
  readonly size: number
  readonly unpackedSize: number
}

/** Makes a tarball of each of these folders within `staged`, in their order. */
export function runNpmPack(staged: string, folders: readonly string[], into: string): readonly Packed[] {
  const packed = folders.map((folder) => `./${folder}`)
  const args = [
    'pack',
    ...packed,
    '--json',
    '--ignore-scripts',
    '--loglevel=error',
    '--pack-destination',
    into,
  ]
  // npm is a .cmd file on Windows, which only a shell can start.
  const shell = process.platform === 'win32'
  const { status, stdout, stderr, error } = spawnSync('npm', args, { cwd: staged, encoding: 'utf8', shell })
  if (error !== undefined) throw error
  if (status !== 0) throw new Error(`npm pack failed:\n${stderr}`)
  const reports: readonly Report[] = JSON.parse(stdout)
  if (reports.length !== folders.length) throw new Error(`npm pack named other files: ${stdout}`)
  return reports.map(({ name, version, files, filename, size, unpackedSize }) => ({
    ...{ name, version, files },
    tarball: join(into, filename),
    packedBytes: size,
    unpackedBytes: unpackedSize,
  }))
}
