import type { Transaction } from '@counterstep/core'
import type { EngineApi } from '@counterstep/engine'
import { callAtOnce } from './call-at-once.ts'

/**
 * Calls at once the branches that wait for their next call, because a client has sent its command again. A transaction that needs a
 * person is left alone: only who may operate takes its mark away.
 */
export async function nudge(
  { gid, attention }: Pick<Transaction, 'gid' | 'attention'>,
  engine: Pick<EngineApi, 'retry'>,
  caller: string | undefined,
): Promise<void> {
  if (attention === undefined) await callAtOnce(gid, engine, caller)
}
