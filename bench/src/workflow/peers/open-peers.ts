import type { ScenarioContext } from '../../scenario.ts'
import type { OwnPostgres } from '../own-postgres.ts'
import type { TransferRow } from '../transfer-row.ts'
import { installPackages } from './install-packages.ts'
import type { Peer } from './peer.ts'

export interface Peers {
  readonly rows: readonly TransferRow[]
  readonly notes: readonly string[]
}

/** One that cannot be installed or started is left out, and a note tells why. */
export async function openPeers(
  context: ScenarioContext,
  postgres: OwnPostgres,
  peers: readonly Peer[],
): Promise<Peers> {
  const rows: TransferRow[] = []
  const notes: string[] = []
  for (const { name, packages, note, open } of peers) {
    const versions = Object.entries(packages).map(([each, version]) => `${each}@${version}`)
    context.progress.show(`installing ${versions.join(' ')}`)
    try {
      const folder = await installPackages(context.harness, name, versions)
      rows.push(await open(context, postgres, folder))
      notes.push(`${name} (${versions.join(', ')}): ${note}`)
    } catch (error: unknown) {
      notes.push(`${name} is skipped: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  return { rows, notes }
}
