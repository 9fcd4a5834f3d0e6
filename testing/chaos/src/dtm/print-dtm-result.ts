import { DTM_INVARIANTS } from './audit/violation.ts'
import type { DtmEnds, DtmResult } from './dtm-result.ts'

const VIOLATIONS_SHOWN = 20
const NAME_WIDTH = 38

/** Prints the result for people. */
export function formatDtmResult(result: DtmResult): string {
  const { settings, tookMs, healedMs, xa, recorded, kills, violations, unbitten } = result
  const rows: readonly (readonly [string, number | string])[] = [
    ['acknowledged', result.acknowledged],
    ['XA: succeeded, failed, not there', describe(xa)],
    ['workflows: succeeded, failed, not there', describe(recorded)],
    ['all ended after the last fault', seconds(healedMs)],
    ['servers killed', kills.servers],
    ['participants killed at a point', kills.atPoint],
    ['participants killed anywhere', kills.anywhere],
    ['answers of servers lost', result.answersLost],
    ['requests delivered twice', result.requestsDoubled],
    ['requests delivered late', result.requestsLate],
    ['requests lost', result.requestsLost],
    ['requests replayed at the end', result.requestsReplayed],
    ['violations', violations.length],
  ]
  return [
    `${settings.store}, seed ${settings.seed}: ${settings.transactions} transactions in ${seconds(tookMs)}`,
    ...rows.map(([name, value]) => `  ${name.padEnd(NAME_WIDTH)} ${value}`),
    ...violations
      .slice(0, VIOLATIONS_SHOWN)
      .map(
        ({ invariant, subject, detail }) =>
          `VIOLATION ${invariant} (${DTM_INVARIANTS[invariant]}) ${subject}: ${detail}`,
      ),
    ...unbitten.map((what) => `NOT BITTEN ${what}`),
  ].join('\n')
}

/** Prints the result for programs: one line of JSON. */
export function formatDtmLine(result: DtmResult): string {
  const { violations, unbitten } = result
  return JSON.stringify({ ok: violations.length === 0 && unbitten.length === 0, ...result })
}

function describe({ succeeded, failed, other }: DtmEnds): string {
  return [succeeded, failed, other].join(', ')
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}
