import { Harness } from './harness/harness.ts'
import { readMachine } from './report/machine.ts'
import type { Progress } from './report/progress.ts'
import { type Report, reportOf } from './report/report.ts'
import type { Scenario } from './scenario.ts'
import type { Settings } from './settings.ts'

/** Runs one scenario; whatever happens, no process and no folder of it is left. */
export async function runBench(
  scenario: Scenario,
  settings: Settings,
  progress: Progress,
  onOpen: (harness: Harness) => void = () => undefined,
): Promise<Report> {
  const harness = new Harness()
  onOpen(harness)
  try {
    const machine = readMachine(harness.folder)
    progress.show('starting')
    const outcome = await scenario.run({ settings, harness, progress })
    return reportOf(scenario.name, settings, machine, outcome)
  } finally {
    progress.show('stopping')
    await harness.close()
    progress.clear()
  }
}
