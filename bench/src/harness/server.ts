import { COUNTERSTEP_PROGRAM } from '@counterstep/test-servers/counterstep-program'
import { profileArgs } from '../profile/profile-args.ts'
import type { StoreFacts } from '../report/store-facts.ts'
import type { Settings } from '../settings.ts'
import type { Database } from '../stores/store-host.ts'
import type { Harness, Service } from './harness.ts'

export interface Server extends Service {
  readonly store: Pick<StoreFacts, 'name' | 'durabilityClass' | 'failover'>
}

export interface Readiness {
  readonly store: Server['store']
  readonly inFlight: number
}

/**
 * `counterstep serve` restarts itself with this flag, but cannot while it has the channel that ties it to this harness.
 */
export const YOUNG_GENERATION = '--max-semi-space-size=16'

/** The real server, with its default settings but for those that `more` names. */
export async function startServer(
  harness: Harness,
  database: Database,
  settings: Pick<Settings, 'cpuProf'>,
  more: readonly string[] = [],
  program = COUNTERSTEP_PROGRAM,
): Promise<Server> {
  const base = ['serve', '--ready-json', '--port', '0', '--log-level', 'warn']
  const child = harness.start({
    name: 'server',
    script: program,
    args: [...base, ...more],
    environment: database.environment,
    nodeArgs: [YOUNG_GENERATION, ...profileArgs(settings)],
  })
  const url = await child.url()
  const { store } = await readReadiness(url)
  return { url, child, store }
}

export async function readReadiness(url: string): Promise<Readiness> {
  const response = await fetch(`${url}/health/ready`)
  if (response.status !== 200) throw new Error(`/health/ready answered ${response.status}`)
  return (await response.json()) as Readiness
}
