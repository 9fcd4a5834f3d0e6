import type { BulkJob } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import type { EngineApi, Given } from '../engine-api.ts'

/** Gives the command of a job to one transaction, under the id of the job, so that a second time changes nothing. */
export async function giveBulkCommand(
  engine: Pick<EngineApi, 'retry' | 'pause' | 'resume' | 'abort'>,
  gid: Gid,
  { id, command, reason, by }: BulkJob,
): Promise<void> {
  const given: Given = { commandId: id, by: { ...by, via: 'bulk' }, reason, bulk: id }
  switch (command) {
    case 'retry':
      await engine.retry(gid, given)
      break
    case 'pause':
      await engine.pause(gid, {}, given)
      break
    case 'resume':
      await engine.resume(gid, given)
      break
    case 'abort':
      await engine.abort(gid, { reason, given })
  }
}
