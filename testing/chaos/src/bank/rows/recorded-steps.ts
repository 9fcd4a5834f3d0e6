import type { Status } from '@counterstep/protocol'
import type { RecordedStep } from '../evidence.ts'

/** One write of a workflow's row. */
export interface RecordWrite {
  readonly gid: string
  readonly status: Status
  readonly at: number
  readonly progress: string
}

/** The part of a record that names the steps. It is absent until a plan was accepted. */
interface StepsRecord {
  readonly w?: { readonly steps: readonly { readonly branch: { readonly id: string } }[] }
}

/** Lists each step of each workflow with the first write that has it. The writes are in the order of their commits. */
export function listRecordedSteps(writes: readonly RecordWrite[]): readonly RecordedStep[] {
  const found = new Map<string, RecordedStep>()
  const turned = new Set<string>()
  for (const { gid, status, at, progress } of writes) {
    const { w } = JSON.parse(progress) as StepsRecord
    for (const { branch } of w?.steps ?? []) {
      const key = `${gid} ${branch.id}`
      if (!found.has(key)) found.set(key, { gid, branchId: branch.id, at, isAfterTurn: turned.has(gid) })
    }
    if (status === 'aborting') turned.add(gid)
  }
  return [...found.values()]
}
