import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ChaosResult } from './chaos-result.ts'
import { ChaosRun } from './chaos-run.ts'
import type { ChaosSettings } from './chaos-settings.ts'
import type { Progress } from './report/progress.ts'

export interface ChaosOutcome {
  readonly result: ChaosResult
  /** Kept: where the logs are. Undefined when all was well. */
  readonly keptFolder: string | undefined
}

/** One run from an empty store to the audit. Its folder stays only if something was wrong. */
export async function runChaos(settings: ChaosSettings, progress: Progress): Promise<ChaosOutcome> {
  const folder = await mkdtemp(join(tmpdir(), 'counterstep-chaos-'))
  let result: ChaosResult
  try {
    result = await new ChaosRun(settings, folder, progress).run()
  } catch (error: unknown) {
    throw new Error(`the run broke off (seed ${settings.seed}); its logs are in ${join(folder, 'logs')}`, {
      cause: error,
    })
  }
  const isWell = result.violations.length === 0 && result.unbitten.length === 0
  if (isWell) await rm(folder, { recursive: true, force: true })
  return { result, keptFolder: isWell ? undefined : folder }
}
