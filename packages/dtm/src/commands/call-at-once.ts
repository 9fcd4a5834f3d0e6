import type { EngineApi } from '@counterstep/engine'
import { type Gid, isCounterstepError } from '@counterstep/protocol'

/** Calls at once the branches that wait for their next call. */
export async function callAtOnce(
  gid: Gid,
  engine: Pick<EngineApi, 'retry'>,
  caller?: string,
): Promise<'called' | 'final' | 'paused' | 'unknown'> {
  try {
    await engine.retry(gid, undefined, caller)
    return 'called'
  } catch (error: unknown) {
    if (isCounterstepError(error) && error.code === 'SAGA_ALREADY_FINAL') return 'final'
    if (isCounterstepError(error) && error.code === 'SAGA_UNKNOWN_GID') return 'unknown'
    // An operator has paused it, and nothing is called until it is resumed.
    if (isCounterstepError(error) && error.code === 'SAGA_PAUSED') return 'paused'
    throw error
  }
}
