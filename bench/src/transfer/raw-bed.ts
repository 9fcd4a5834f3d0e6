import type { Child } from '../harness/child.ts'
import { processPath } from '../harness/paths.ts'
import type { ScenarioContext } from '../scenario.ts'
import { Sysbench } from './sysbench.ts'
import { type TransferBed, urlOf } from './transfer-bed.ts'

/** What writes without any service. */
export interface RawBed {
  readonly writers: Child
  /** Undefined where there is none. */
  readonly sysbench: Sysbench | undefined
}

export async function openRawBed(
  { harness, progress }: ScenarioContext,
  { host, environment }: TransferBed,
): Promise<RawBed> {
  progress.show('sysbench prepares its tables')
  const sysbench = await Sysbench.prepare(urlOf(await host.newDatabase()), harness.folder)
  const writers = harness.start({ name: 'writers', script: processPath('bank-writers'), environment })
  return { writers, sysbench }
}
