import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RuntimeClient } from '@counterstep/lambda-emulator'
import type { Progress } from '../bank/report/progress.ts'
import { type LambdaResult, LambdaRun } from './lambda-run.ts'
import type { LambdaSettings } from './lambda-settings.ts'

export interface LambdaOutcome {
  readonly result: LambdaResult
  /** Kept: where the logs are. Undefined when all was well. */
  readonly keptFolder: string | undefined
}

/** One run from an empty store to the audit. Its folder stays only if something was wrong. */
export async function runLambda(
  client: RuntimeClient,
  settings: LambdaSettings,
  progress: Progress,
): Promise<LambdaOutcome> {
  const folder = await mkdtemp(join(tmpdir(), 'counterstep-lambda-'))
  let result: LambdaResult
  try {
    result = await new LambdaRun(client, settings, folder, progress).run()
  } catch (error: unknown) {
    const place = join(folder, 'logs')
    throw new Error(`the run broke off (seed ${settings.seed}); its logs are in ${place}`, { cause: error })
  }
  if (result.violations.length > 0) return { result, keptFolder: folder }
  await rm(folder, { recursive: true, force: true })
  return { result, keptFolder: undefined }
}
