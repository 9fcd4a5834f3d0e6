import { installPinned, type PinnedPlaces, pinnedPlaces } from '../../peers/pinned-packages.ts'
import type { ScenarioContext } from '../../scenario.ts'
import type { OwnPostgres } from '../own-postgres.ts'
import type { TransferRow } from '../transfer-row.ts'
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
  places: PinnedPlaces = pinnedPlaces(context.harness),
): Promise<Peers> {
  const rows: TransferRow[] = []
  const notes: string[] = []
  for (const { name, packages, note, open } of peers) {
    context.progress.show(`installing ${name}, unless it is there`)
    try {
      const { folder, versions } = await installPinned(packages, places)
      rows.push(await open(context, postgres, folder))
      notes.push(`${name} (${versions}): ${note}`)
    } catch (error: unknown) {
      notes.push(`${name} is skipped: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  return { rows, notes }
}
