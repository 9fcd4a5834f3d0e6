import type { Harness } from './harness/harness.ts'
import type { Failed } from './report/html/combined-page.ts'
import type { Progress } from './report/progress.ts'
import type { Report } from './report/report.ts'
import { type Headline, headlinesOn } from './run-all-headlines.ts'
import { runBench } from './run-bench.ts'
import { DEFAULT_SETTINGS, type Settings } from './settings.ts'

export interface AllRuns {
  readonly reports: readonly Report[]
  readonly failed: readonly Failed[]
}

/** One scenario after the other; what fails is named, and does not keep the next from running. */
export async function runAll(
  given: Partial<Settings>,
  progress: Progress,
  onOpen: (harness: Harness) => void,
  onEnd: (ended: Report | Failed) => void,
  headlines: readonly Headline[] = headlinesOn(given),
): Promise<AllRuns> {
  const reports: Report[] = []
  const failed: Failed[] = []
  const startedAt = performance.now()
  for (const [index, { scenario, store }] of headlines.entries()) {
    const name = `${scenario.name}, ${store}`
    const place = `${index + 1} of ${headlines.length}, ${name}`
    const shown = shownBehind(progress, () => `${place} (${minutesSince(startedAt)}): `)
    const settings = { ...DEFAULT_SETTINGS, ...scenario.defaults, ...given, store }
    try {
      const report = await runBench(scenario, settings, shown, onOpen)
      reports.push(report)
      onEnd(report)
    } catch (error: unknown) {
      const failure = { name, message: error instanceof Error ? error.message : String(error) }
      failed.push(failure)
      onEnd(failure)
    }
  }
  return { reports, failed }
}

function shownBehind({ show, clear }: Progress, before: () => string): Progress {
  return { show: (text) => show(`${before()}${text}`), clear }
}

function minutesSince(startedAt: number): string {
  const seconds = Math.round((performance.now() - startedAt) / 1000)
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`
}
