import type { Harness } from './harness/harness.ts'
import type { Progress } from './report/progress.ts'
import type { StoreFacts } from './report/store-facts.ts'
import type { Ratio, Row } from './row.ts'
import type { Settings } from './settings.ts'

export interface ScenarioContext {
  readonly settings: Settings
  readonly harness: Harness
  readonly progress: Progress
}

export type Table = readonly (readonly string[])[]

export interface Outcome {
  /** Absent where nothing is stored, or where each row has a store of its own. */
  readonly store?: StoreFacts
  /** Its rows are on several stores, which its notes describe. */
  readonly hasStoreForEachRow?: true
  readonly rows: readonly Row[]
  /** The figures as a table for readers, the heads first, for a page in Markdown. */
  readonly table?: Table
  readonly ratios: readonly Ratio[]
  /** Counts that were held against each other; a scenario fails when they do not add up. */
  readonly counters: Readonly<Record<string, number>>
  /** Sentences that a reader of the figures must know. */
  readonly notes?: readonly string[]
}

export interface Scenario {
  readonly name: string
  readonly summary: string
  /** Its own, where they differ from those of all scenarios. */
  readonly defaults?: Partial<Settings>
  run(context: ScenarioContext): Promise<Outcome>
}
