/**
 * A run of a workflow writes notes into a file, which outlives the kill of its process: the answers that it has got, and that
 * it is about to end the workflow.
 */
export type RunNote =
  | { readonly type: 'prepared'; readonly gid: string }
  | ({ readonly type: 'reported'; readonly gid: string } & StepReport)
  | { readonly type: 'ending' | 'ended'; readonly gid: string; readonly status: WorkflowEnd }

export type WorkflowEnd = 'succeed' | 'failed'

export interface StepReport {
  readonly branch: string
  readonly op: string
  readonly status: WorkflowEnd
  readonly data: string
}
