import { type DebianPackage, findBinaries, installPackages, type Machine } from '@counterstep/test-servers'
import { RuntimeClientMissingError } from './errors.ts'

interface BuildTool {
  readonly names: readonly string[]
  readonly debianPackage: DebianPackage
}

/** A fresh Debian lacks these tools. A compiler of C comes with the one of C++. */
const TOOLS: readonly BuildTool[] = [
  { names: ['g++'], debianPackage: 'g++' },
  { names: ['make'], debianPackage: 'make' },
  { names: ['cmake', 'cmake3'], debianPackage: 'cmake' },
  { names: ['xz'], debianPackage: 'xz-utils' },
  { names: ['python3'], debianPackage: 'python3' },
  // This tool lets an environment end with its emulator, even while it is stopped.
  { names: ['setpriv'], debianPackage: 'util-linux' },
]

/** Installs the missing tools. Throws RuntimeClientMissingError if that is not possible. */
export async function ensureBuildTools(searchPath: readonly string[], machine: Machine): Promise<void> {
  const missing = await findMissingTools(searchPath)
  if (missing.length === 0) return
  const failure = await installPackages(
    missing.map(({ debianPackage }) => debianPackage),
    machine,
  )
  const still = await findMissingTools(searchPath)
  if (still.length === 0) return
  const names = still.map((tool) => tool.names[0]).join(', ')
  throw new RuntimeClientMissingError(
    `building it takes ${names}: ${failure ?? 'installed, and yet not found'}`,
    'excused',
  )
}

async function findMissingTools(searchPath: readonly string[]): Promise<readonly BuildTool[]> {
  const missing: BuildTool[] = []
  for (const tool of TOOLS) {
    if ((await findBinaries(tool.names, searchPath)).length === 0) missing.push(tool)
  }
  return missing
}
