import type { ScenarioContext } from '../../../scenario.ts'
import type { StoreSoftware } from '../../../stores/store-host.ts'
import { DtmRow } from '../dtm-row.ts'
import { buildDtm, DTM_VERSION, type DtmBuild, defaultDtmBuild } from './build-dtm.ts'
import { openDtmStore } from './open-dtm-store.ts'
import { startDtm } from './start-dtm.ts'

export const DTM_NAME = `dtm ${DTM_VERSION}`

export interface DtmPeer {
  /** None where it is skipped. */
  readonly rows: readonly DtmRow[]
  /** They name its version and its settings, or why it is skipped. */
  readonly notes: readonly string[]
}

/** Builds and starts DTM itself on a private store. If it cannot be had, it is left out, and a note tells why. */
export async function openDtmPeer(
  context: ScenarioContext,
  build: DtmBuild = defaultDtmBuild(context.harness),
): Promise<DtmPeer> {
  const { harness, settings, progress } = context
  try {
    progress.show(`building ${DTM_NAME}, which takes minutes for the first time`)
    const program = await buildDtm(build)
    const store = await openDtmStore(harness, settings.store)
    const { settings: own, ...server } = await startDtm(harness, program, store)
    return {
      rows: await DtmRow.openAll(context, { ...server, name: DTM_NAME }),
      notes: [
        `${DTM_NAME}: built from the Go module proxy; its own defaults except for ports and LogLevel (${toWords(own)}); no one who knows it has tuned it`,
        `${DTM_NAME} stores on a private ${describe(store.host.software)}`,
      ],
    }
  } catch (error: unknown) {
    const reason = error instanceof Error ? error.message : String(error)
    return { rows: [], notes: [`${DTM_NAME} is skipped: ${reason}`] }
  }
}

function describe({ version, settings }: StoreSoftware): string {
  return `${version}: ${toWords(settings)}`
}

function toWords(settings: Readonly<Record<string, unknown>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ')
}
