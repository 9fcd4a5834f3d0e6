import type { EngineApi } from '@counterstep/engine'
import type { Gid } from '@counterstep/protocol'
import type { Seen } from './show-transaction.ts'

/** Undefined: no such gid. The definition as it was stored, the progress as far as this node knows it. */
export function see(
  engine: Pick<EngineApi, 'showWhole'>,
  gid: Gid,
  caller?: string,
): Promise<Seen | undefined> {
  return engine.showWhole(gid, caller)
}
