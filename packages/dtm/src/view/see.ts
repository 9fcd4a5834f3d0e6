import type { EngineApi } from '@counterstep/engine'
import type { Gid } from '@counterstep/protocol'
import type { Seen } from './shown-transaction.ts'

/** Undefined: no such gid. The definition as it was stored, the progress as far as this node knows it. */
export async function see(engine: EngineApi, gid: Gid): Promise<Seen | undefined> {
  const transaction = await engine.read(gid)
  if (transaction === undefined) return undefined
  const view = await engine.get(gid)
  return view === undefined ? undefined : { transaction, view }
}
