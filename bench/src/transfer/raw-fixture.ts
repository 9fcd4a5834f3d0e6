import type { Child } from '../harness/child.ts'
import { processPath } from '../harness/paths.ts'
import { loadProgram } from '../load-program.ts'
import type { ScenarioContext } from '../scenario.ts'
import { Sysbench } from './sysbench.ts'
import { readStoreUrl, type TransferFixture } from './transfer-fixture.ts'

export type PreparedSysbench =
  | { readonly type: 'ready'; readonly sysbench: Sysbench }
  /** `reason` is for people. */
  | { readonly type: 'missing'; readonly reason: string }

/** The programs that write without any service. */
export interface RawFixture {
  readonly writers: Child
  readonly sysbench: PreparedSysbench
}

export async function openRawFixture(
  context: ScenarioContext,
  fixture: TransferFixture,
): Promise<RawFixture> {
  const sysbench = await prepareSysbench(context, fixture)
  const { environment } = fixture
  const writers = context.harness.start({ name: 'writers', script: processPath('bank-writers'), environment })
  return { writers, sysbench }
}

async function prepareSysbench(
  { harness, progress }: ScenarioContext,
  { host }: TransferFixture,
): Promise<PreparedSysbench> {
  const program = await loadProgram('sysbench')
  if (program.type === 'missing') return program
  progress.show('sysbench prepares its tables')
  const url = readStoreUrl(await host.newDatabase())
  return { type: 'ready', sysbench: await Sysbench.prepare(program.path, url, harness.folder) }
}
