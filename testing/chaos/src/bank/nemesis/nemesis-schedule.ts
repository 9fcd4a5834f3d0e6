import { LEASE_MS } from '../processes/server-flags.ts'
import type { SeededRandom } from '../seeded-random.ts'
import { DEATH_POINTS } from '../service/aimed-death.ts'
import { type Edge, HARMS, type NemesisAction } from './nemesis-action.ts'

export const BANKS = 2

const DOWN_MS_MAX = 500
/** Longer than a lease: the paused server has lost what it holds when it goes on. */
const PAUSE_MS_MIN = 1.25 * LEASE_MS
const PAUSE_MS_MAX = 1.9 * LEASE_MS
const STORE_PAUSE_MS_MAX = 1_500
const HARM_MS_MIN = 100
const HARM_MS_MAX = 800
const KILLS_PER_STORE_FAULT = 5
const KILLS_PER_BANK_KILL = 5
const HARMS_PER_KILL = 2
/** So many steps have committed at least when a bank dies between two of them. */
const COMMITS_MAX = 2

export interface ScheduleSettings {
  readonly kills: number
  readonly pauses: number
  readonly servers: number
  readonly hasStoreServer: boolean
  /** Whether banks die in plan calls of workflows, as often as servers are killed. */
  readonly hasAims: boolean
}

/** Series of events that run side by side. Drawn from the seed alone, before anything starts. */
export interface NemesisSchedule {
  readonly crashes: readonly NemesisAction[]
  readonly stalls: readonly NemesisAction[]
  readonly aims: readonly NemesisAction[]
}

export function nemesisSchedule(settings: ScheduleSettings, random: SeededRandom): NemesisSchedule {
  const { kills, pauses, servers, hasStoreServer, hasAims } = settings
  const server = () => random.between(0, servers - 1)
  const bank = () => random.between(0, BANKS - 1)
  const downMs = () => random.between(0, DOWN_MS_MAX)
  const storeFaults = hasStoreServer ? Math.ceil(kills / KILLS_PER_STORE_FAULT) : 0
  const crashes: NemesisAction[] = [
    ...times(kills, () => ({ type: 'kill-server', server: server(), downMs: downMs() }) as const),
    ...times(
      storeFaults,
      (index): NemesisAction =>
        index % 2 === 0
          ? { type: 'kill-store', downMs: downMs() }
          : { type: 'pause-store', forMs: random.between(HARM_MS_MIN, STORE_PAUSE_MS_MAX) },
    ),
    ...times(
      Math.ceil(kills / KILLS_PER_BANK_KILL),
      () => ({ type: 'kill-bank', bank: bank(), downMs: downMs() }) as const,
    ),
  ]
  const edges = listEdges(servers, hasStoreServer)
  const stalls: NemesisAction[] = [
    ...times(
      pauses,
      () =>
        ({
          type: 'pause-server',
          server: server(),
          forMs: random.between(PAUSE_MS_MIN, PAUSE_MS_MAX),
        }) as const,
    ),
    ...times(
      kills * HARMS_PER_KILL,
      () =>
        ({
          type: 'hurt-edge',
          edge: random.pick(edges),
          harm: random.pick(HARMS),
          forMs: random.between(HARM_MS_MIN, HARM_MS_MAX),
        }) as const,
    ),
  ]
  const aims = times(
    hasAims ? kills : 0,
    (index): NemesisAction => ({
      type: 'aim-at-bank',
      bank: bank(),
      order: {
        point: DEATH_POINTS[index % DEATH_POINTS.length] ?? DEATH_POINTS[0],
        commits: random.between(1, COMMITS_MAX),
      },
      isAborted: index % (2 * DEATH_POINTS.length) < DEATH_POINTS.length,
      downMs: downMs(),
    }),
  )
  return { crashes: random.shuffled(crashes), stalls: random.shuffled(stalls), aims: random.shuffled(aims) }
}

function listEdges(servers: number, hasStoreServer: boolean): readonly Edge[] {
  return [
    ...times(servers, (server) => ({ type: 'client', server }) as const),
    ...(hasStoreServer ? times(servers, (server) => ({ type: 'store', server }) as const) : []),
    ...times(BANKS, (bank) => ({ type: 'bank', bank }) as const),
  ]
}

function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index))
}
