import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { WORK_FOLDER } from '../harness/paths.ts'
import { combinedPage, type Failed } from './html/combined-page.ts'
import { reportPage } from './html/report-page.ts'
import { formatMarkdown } from './markdown.ts'
import type { Report } from './report.ts'

export interface WrittenReport {
  readonly jsonPath: string
  readonly htmlPath: string
  /** Absent where the report has no table for such a page. */
  readonly markdownPath?: string
}

export function writeReport(report: Report): WrittenReport {
  const written = write(`${report.scenario}-${report.at}`, report, reportPage(report))
  const markdown = formatMarkdown(report)
  if (markdown === undefined) return written
  const markdownPath = written.jsonPath.replace(/json$/, 'md')
  writeFileSync(markdownPath, `${markdown}\n`)
  return { ...written, markdownPath }
}

export function writeAll(reports: readonly Report[], failed: readonly Failed[]): WrittenReport {
  const at = new Date().toISOString()
  return write(`all-${at}`, { at, reports, failed }, combinedPage(reports, failed, at))
}

function write(name: string, content: object, page: string): WrittenReport {
  mkdirSync(WORK_FOLDER, { recursive: true })
  const base = join(WORK_FOLDER, name.replaceAll(':', '-'))
  const written = { jsonPath: `${base}.json`, htmlPath: `${base}.html` }
  writeFileSync(written.jsonPath, `${JSON.stringify(content, null, 2)}\n`)
  writeFileSync(written.htmlPath, page)
  return written
}
