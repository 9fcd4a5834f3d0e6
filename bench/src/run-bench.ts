import { assertAimsHaveRatios } from './aims/find-aim.ts'
import { Harness } from './harness/harness.ts'
import { loadProgram } from './load-program.ts'
import { readMachine } from './report/machine.ts'
import type { Progress } from './report/progress.ts'
import { makeReport, type Report } from './report/report.ts'
import type { Scenario } from './scenario.ts'
import type { Settings } from './settings.ts'
import { confirmationNotes } from './wrk/confirmation.ts'

/** Runs one scenario. In the end, also after a failure, no process and no folder of it is left. */
export async function runBench(
  scenario: Scenario,
  settings: Settings,
  progress: Progress,
  onOpen: (harness: Harness) => void = () => undefined,
): Promise<Report> {
  const wrk = settings.wrk ? await loadProgram('wrk') : undefined
  const harness = new Harness(wrk?.type === 'found' ? wrk.path : undefined)
  try {
    onOpen(harness)
    const machine = readMachine(harness.folder)
    progress.show('starting')
    const outcome = await scenario.run({ settings, harness, progress })
    const wrkNotes = wrk === undefined ? [] : confirmationNotes(wrk, outcome)
    const notes = [...(outcome.notes ?? []), ...wrkNotes]
    const report = makeReport(scenario.name, settings, machine, { ...outcome, notes })
    assertAimsHaveRatios(report)
    return report
  } finally {
    progress.show('stopping')
    await harness.close()
    progress.clear()
  }
}
