import type { Ratio, Row } from '../row.ts'
import type { Outcome, Table } from '../scenario.ts'
import type { Settings } from '../settings.ts'
import type { Machine } from './machine.ts'
import type { StoreFacts } from './store-facts.ts'

export interface Report {
  readonly scenario: string
  readonly at: string
  /** Null where nothing is stored, or where each row has a store of its own. */
  readonly store: StoreFacts | null
  readonly hasStoreForEachRow?: true
  readonly settings: Settings
  readonly machine: Machine
  readonly rows: readonly Row[]
  readonly table?: Table
  /** Medians. */
  readonly ratios: Readonly<Record<string, number>>
  readonly ratioSpreads: Readonly<Record<string, Omit<Ratio, 'name'>>>
  readonly counters: Readonly<Record<string, number>>
  readonly notes: readonly string[]
}

export function makeReport(scenario: string, settings: Settings, machine: Machine, outcome: Outcome): Report {
  const { store = null, hasStoreForEachRow, rows, table, ratios, counters, notes = [] } = outcome
  return {
    scenario,
    at: new Date().toISOString(),
    store,
    ...(hasStoreForEachRow === undefined ? {} : { hasStoreForEachRow }),
    settings,
    machine,
    rows,
    ...(table === undefined ? {} : { table }),
    ratios: Object.fromEntries(ratios.map(({ name, spread }) => [name, spread.median])),
    ratioSpreads: Object.fromEntries(ratios.map(({ name, ...ratio }) => [name, ratio])),
    counters,
    notes,
  }
}

/** Prints one line for machines that read: the part of a report whose names stay as they are. */
export function reportLine(report: Report): string {
  return JSON.stringify(fixedPart(report))
}

/** Prints several reports on one line as well. */
export function allLine(reports: readonly Report[], failed: readonly string[]): string {
  return JSON.stringify({ scenario: 'all', reports: reports.map(fixedPart), failed })
}

function fixedPart({ scenario, store, settings, rows, ratios }: Report): object {
  return { scenario, store: store?.name ?? null, settings, rows, ratios }
}
