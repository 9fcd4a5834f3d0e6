import type { Status } from '@counterstep/protocol'
import type { RecordedGrant, RecordedStep } from '../evidence.ts'

/** One write of a workflow's row. */
export interface RecordWrite {
  readonly gid: string
  readonly status: Status
  /** The instant of the write by the machine's clock, before its commit. */
  readonly at: number
  /** The branch ids of the steps that its record has. The accept has none. */
  readonly steps?: readonly string[] | undefined
  /** The highest slot that was granted. Undefined: those that the submit asks for. */
  readonly lastSlot?: number | undefined
}

/**
 * Lists each step of each workflow with the first write that has it, and each grant with the first write that has it. The writes
 * are in the order of their commits.
 */
export function listRecords(writes: readonly RecordWrite[]): {
  readonly recordedSteps: readonly RecordedStep[]
  readonly recordedGrants: readonly RecordedGrant[]
} {
  const steps = new Map<string, RecordedStep>()
  const grants = new Map<string, RecordedGrant>()
  const turned = new Set<string>()
  for (const { gid, status, at, steps: ids = [], lastSlot } of writes) {
    if (status === 'aborting' || status === 'failed') turned.add(gid)
    for (const branchId of ids) {
      const key = `${gid} ${branchId}`
      if (!steps.has(key)) steps.set(key, { gid, branchId, at, isAfterTurn: turned.has(gid) })
    }
    const key = `${gid} ${lastSlot}`
    if (!grants.has(key)) grants.set(key, { gid, lastSlot, at })
  }
  return { recordedSteps: [...steps.values()], recordedGrants: [...grants.values()] }
}
