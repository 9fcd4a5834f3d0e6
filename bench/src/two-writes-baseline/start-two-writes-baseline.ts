import type { Harness, Service } from '../harness/harness.ts'
import { processPath } from '../harness/paths.ts'
import { YOUNG_GENERATION } from '../harness/server.ts'
import { profileArgs } from '../profile/profile-args.ts'
import type { Settings } from '../settings.ts'
import type { Database } from '../stores/store-host.ts'

/** The relay that writes what a saga writes. */
export interface TwoWritesBaseline extends Service {
  /** How many of its sagas its store holds as succeeded. */
  countFinished(): Promise<number>
}

export async function startTwoWritesBaseline(
  harness: Harness,
  { environment }: Database,
  settings: Pick<Settings, 'cpuProf'>,
): Promise<TwoWritesBaseline> {
  const child = harness.start({
    name: 'two-writes baseline',
    script: processPath('two-writes-baseline'),
    environment,
    nodeArgs: [YOUNG_GENERATION, ...profileArgs(settings)],
  })
  const url = await child.url()
  return { url, child, countFinished: () => countFinished(url) }
}

async function countFinished(url: string): Promise<number> {
  const response = await fetch(`${url}/finished`)
  if (response.status !== 200)
    throw new Error(`the count of the two-writes baseline answered ${response.status}`)
  const { count } = (await response.json()) as { readonly count: number }
  return count
}
