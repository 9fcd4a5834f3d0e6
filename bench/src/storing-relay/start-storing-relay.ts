import type { Child } from '../harness/child.ts'
import type { Harness, Service } from '../harness/harness.ts'
import { processPath } from '../harness/paths.ts'
import { YOUNG_GENERATION } from '../harness/server.ts'
import type { Settings } from '../settings.ts'
import type { Database } from '../stores/store-host.ts'

/** The relay that writes what a saga writes. */
export class StoringRelay implements Service {
  readonly url: string
  readonly child: Child

  constructor(url: string, child: Child) {
    this.url = url
    this.child = child
  }

  /** How many of its sagas its store holds as succeeded. */
  async countFinished(): Promise<number> {
    const response = await fetch(`${this.url}/finished`)
    if (response.status !== 200) throw new Error(`the count of the storing relay answered ${response.status}`)
    const { count } = (await response.json()) as { readonly count: number }
    return count
  }
}

export async function startStoringRelay(
  harness: Harness,
  { environment }: Database,
  { cpuProf }: Pick<Settings, 'cpuProf'>,
): Promise<StoringRelay> {
  const child = harness.start({
    name: 'storing relay',
    script: processPath('storing-relay'),
    environment,
    nodeArgs: [
      YOUNG_GENERATION,
      ...(cpuProf === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${cpuProf}`]),
    ],
  })
  return new StoringRelay(await child.url(), child)
}
