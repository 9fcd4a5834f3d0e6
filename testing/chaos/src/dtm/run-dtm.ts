import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Progress } from '../bank/report/progress.ts'
import type { DtmEvidence } from './audit/dtm-evidence.ts'
import type { DtmResult, DtmSettings } from './dtm-result.ts'
import { DtmRun } from './dtm-run.ts'

/** Only the first ones are kept: one cause mostly breaks many. */
const KEPT_MAX = 20

export interface DtmOutcome {
  readonly result: DtmResult
  /** Where the logs are. Undefined when all was well. */
  readonly keptFolder: string | undefined
}

/** One run from an empty store to the audit. Its folder stays only if something was wrong. */
export async function runDtm(settings: DtmSettings, progress: Progress): Promise<DtmOutcome> {
  const folder = await mkdtemp(join(tmpdir(), 'counterstep-chaos-dtm-'))
  let outcome: Awaited<ReturnType<DtmRun['run']>>
  try {
    outcome = await new DtmRun(settings, folder, progress).run()
  } catch (error: unknown) {
    throw new Error(`the run broke off (seed ${settings.seed}); its logs are in ${join(folder, 'logs')}`, {
      cause: error,
    })
  }
  const { result, evidence } = outcome
  const isWell = result.violations.length === 0 && result.unbitten.length === 0
  if (isWell) await rm(folder, { recursive: true, force: true })
  else await keepEvidence(folder, result, evidence)
  return { result, keptFolder: isWell ? undefined : folder }
}

async function keepEvidence(folder: string, { violations }: DtmResult, evidence: DtmEvidence): Promise<void> {
  const gids = [...new Set(violations.map(({ subject }) => subject))].slice(0, KEPT_MAX)
  for (const plan of evidence.plans.filter(({ gid }) => gids.includes(gid))) {
    const ofIt = <Item extends { readonly gid: string }>(items: readonly Item[]) =>
      items.filter(({ gid }) => gid === plan.gid)
    const known = {
      plan,
      told: ofIt(evidence.told),
      notes: ofIt(evidence.notes),
      views: evidence.views.get(plan.gid),
      effects: ofIt(evidence.effects),
      prepared: evidence.prepared.filter((xid) => xid.startsWith(`${plan.gid}-`)),
    }
    await writeFile(join(folder, `${plan.gid}.json`), JSON.stringify(known, undefined, 1))
  }
}
