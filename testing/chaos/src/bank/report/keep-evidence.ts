import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Violation } from '../audit/violation.ts'
import type { Evidence } from '../evidence.ts'

/** Only the first ones are kept: one cause mostly breaks many. */
const GIDS_MAX = 20

/** Writes all that is known of the transactions that have broken an invariant, a file for each, beside the logs. */
export async function keepEvidence(
  folder: string,
  violations: readonly Violation[],
  evidence: Evidence,
): Promise<void> {
  const { planned, rows, banks, operators, approvals, workflows } = evidence
  const gids = [...new Set(violations.map(({ subject }) => subject))].filter((gid) => planned.has(gid))
  for (const gid of gids.slice(0, GIDS_MAX)) {
    const ofIt = <Item extends { readonly gid: string }>(items: readonly Item[]) =>
      items.filter((item) => item.gid === gid)
    const known = {
      planned: planned.get(gid),
      row: rows.get(gid),
      views: ofIt([...approvals, ...workflows, ...operators.views]),
      notes: ofIt(evidence.notes),
      calls: ofIt(evidence.calls),
      writes: ofIt(evidence.writes),
      recordedSteps: ofIt(evidence.recordedSteps),
      recordedGrants: ofIt(evidence.recordedGrants),
      effects: banks.map(({ effects }) => ofIt(effects)),
      blocked: banks.map(({ blocked }) => ofIt(blocked)),
      commands: ofIt(operators.commands),
      deaths: ofIt(evidence.deaths),
    }
    await writeFile(join(folder, `${gid}.json`), JSON.stringify(known, undefined, 1))
  }
}
