import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { WORK_FOLDER } from '../harness/paths.ts'
import { mergedStacks } from '../profile/merged-stacks.ts'
import { readProfiles } from '../profile/read-profiles.ts'
import { flameGraph } from './charts/flame-graph.ts'
import { combinedPage, type Failed, type Finished } from './html/combined-page.ts'
import type { Markup } from './html/markup.ts'
import { reportPage } from './html/report-page.ts'
import type { Report } from './report.ts'

/** Threads of several servers would fill a page. */
const FLAMES_MAX = 4
/** Loading modules is not what a run measures. */
const START_SECONDS = 2

export interface WrittenReport {
  readonly jsonPath: string
  readonly htmlPath: string
}

export function writeReport(report: Report, flames: readonly Markup[]): WrittenReport {
  return write(`${report.scenario}-${report.at}`, report, reportPage(report, flames))
}

export function writeAll(finished: readonly Finished[], failed: readonly Failed[]): WrittenReport {
  const at = new Date().toISOString()
  const reports = finished.map(({ report }) => report)
  return write(`all-${at}`, { at, reports, failed }, combinedPage(finished, failed, at))
}

function write(name: string, content: object, page: string): WrittenReport {
  mkdirSync(WORK_FOLDER, { recursive: true })
  const base = join(WORK_FOLDER, name.replaceAll(':', '-'))
  const written = { jsonPath: `${base}.json`, htmlPath: `${base}.html` }
  writeFileSync(written.jsonPath, `${JSON.stringify(content, null, 2)}\n`)
  writeFileSync(written.htmlPath, page)
  return written
}

/** Of the threads that a run profiled, the busiest first. */
export function flamesOf(cpuProf: string | undefined, since: number): readonly Markup[] {
  if (cpuProf === undefined) return []
  return readProfiles(cpuProf, since)
    .flatMap(({ name, profile }) => {
      const root = mergedStacks(profile, START_SECONDS)
      return root === undefined ? [] : [{ name: threadOf(name), root }]
    })
    .toSorted((one, other) => other.root.totalUs - one.root.totalUs)
    .slice(0, FLAMES_MAX)
    .map(({ name, root }) => flameGraph(name, root))
}

/** V8 names its files by day, time, process and thread. */
function threadOf(name: string): string {
  const [, , , process = '', thread = ''] = name.split('.')
  return thread === '0' ? `process ${process}, main thread` : `process ${process}, worker thread ${thread}`
}
