import { checkPackage } from '../pack/check/check-package.ts'
import type { Packed } from '../pack/run-npm-pack.ts'
import { publishTarball } from './publish-tarball.ts'
import { type RegistryState, registryState } from './registry-state.ts'

export interface Inspected {
  readonly packed: Packed
  readonly state: RegistryState
  readonly faults: readonly string[]
}

/** Returns the packages that would be published, in this order, and the faults of each. Sends nothing. */
export async function inspectPackages(
  packed: readonly Packed[],
  root: string,
): Promise<readonly Inspected[]> {
  const inspected: Inspected[] = []
  for (const each of packed) inspected.push(await inspectPackage(each, root))
  return inspected
}

async function inspectPackage(packed: Packed, root: string): Promise<Inspected> {
  const { name, version, tarball } = packed
  const state = registryState(name, version)
  // npm refuses to try what the registry has. A release that was cut short is taken up again at what it has not.
  const refused = state === 'published' ? undefined : publishTarball(tarball, version, { isDry: true })
  return {
    packed,
    state,
    faults: [...(await checkPackage(tarball, root)), ...(refused === undefined ? [] : [refused])],
  }
}

const STATES: Readonly<Record<RegistryState, string>> = {
  new: 'new',
  published: 'already there',
  unknown: 'could not be asked',
}

/** One line each, under a head, in columns; then what is wrong. */
export function releaseReport(inspected: readonly Inspected[]): string {
  const rows = inspected.map(({ packed, state, faults }) => [
    ...[packed.name, packed.version, kilobytes(packed.packedBytes), kilobytes(packed.unpackedBytes)],
    ...[`${packed.files.length}`, STATES[state], faults.length === 0 ? 'sound' : `${faults.length} faults`],
  ])
  const all = [['package', 'version', 'tarball', 'unpacked', 'files', 'registry', 'checks'], ...rows]
  const widths = all[0]?.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0))) ?? []
  const table = all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  const faults = inspected.flatMap((each) =>
    each.faults.map((fault) => `not sound: ${each.packed.name}: ${fault}`),
  )
  return `${[...table, ...faults].join('\n')}\n`
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`
}
