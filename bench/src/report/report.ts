import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { WORK_FOLDER } from '../harness/paths.ts'
import type { Ratio, Row } from '../row.ts'
import type { Outcome } from '../scenario.ts'
import type { Settings } from '../settings.ts'
import type { Machine } from './machine.ts'
import type { StoreFacts } from './store-facts.ts'

export interface Report {
  readonly scenario: string
  readonly at: string
  readonly store: StoreFacts | null
  readonly settings: Settings
  readonly machine: Machine
  readonly rows: readonly Row[]
  /** Medians. */
  readonly ratios: Readonly<Record<string, number>>
  readonly ratioSpreads: Readonly<Record<string, Omit<Ratio, 'name'>>>
  readonly counters: Readonly<Record<string, number>>
  readonly notes: readonly string[]
}

export function reportOf(scenario: string, settings: Settings, machine: Machine, outcome: Outcome): Report {
  const { store = null, rows, ratios, counters, notes = [] } = outcome
  return {
    scenario,
    at: new Date().toISOString(),
    store,
    settings,
    machine,
    rows,
    ratios: Object.fromEntries(ratios.map(({ name, spread }) => [name, spread.median])),
    ratioSpreads: Object.fromEntries(ratios.map(({ name, ...ratio }) => [name, ratio])),
    counters,
    notes,
  }
}

export function writeReport(report: Report): string {
  mkdirSync(WORK_FOLDER, { recursive: true })
  const path = join(WORK_FOLDER, `${report.scenario}-${report.at.replaceAll(':', '-')}.json`)
  writeFileSync(path, `${JSON.stringify(report, null, 2)}\n`)
  return path
}

/** For machines that read: the part of a report that issue 5 fixes, on one line. */
export function reportLine({ scenario, store, settings, rows, ratios }: Report): string {
  return JSON.stringify({ scenario, store: store?.name ?? null, settings, rows, ratios })
}
