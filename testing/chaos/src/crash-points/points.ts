/** The points beside the writes of values, signals and points of no return. */
export const STAGE_POINTS = [
  'values-before',
  'values-after',
  'signal-before',
  'signal-after',
  'mark-before',
  'mark-after',
] as const

/**
 * The points beside the writes of a workflow: a plan that is opened, one whose answer has new steps, the slots that a plan call is
 * granted, one of these that is sealed, the begin of a generation, the abort decision, and the end.
 */
export const WORKFLOW_POINTS = [
  'plan-open-before',
  'plan-open-after',
  'plan-answer-before',
  'plan-answer-after',
  'grant-before',
  'grant-after',
  'seal-before',
  'seal-after',
  'continue-before',
  'continue-after',
  'workflow-abort-before',
  'workflow-abort-after',
  'workflow-end-before',
  'workflow-end-after',
] as const

/**
 * The points at which a node can be made to die. Each stands directly beside a durable write, a claim or a branch call.
 */
export const POINTS = [
  'create-before',
  'create-after',
  'checkpoint-before',
  'checkpoint-after',
  ...STAGE_POINTS,
  ...WORKFLOW_POINTS,
  'decision-before',
  'decision-after',
  'release-before',
  'release-after',
  'finish-before',
  'finish-after',
  'command-before',
  'command-after',
  'renew-before',
  'renew-after',
  'claim-before',
  'claim-after',
  'purge-before',
  'purge-after',
  'document-before',
  'document-after',
  'call-before',
  'call-after',
  'commit-before',
  'commit-after',
  'migration-before',
  'migration-after',
] as const

export type Point = (typeof POINTS)[number]

/** The verb of the store, or what else a pair of points stands around. */
export type Step = WithoutBefore<Point>

type WithoutBefore<Name> = Name extends `${infer Step}-before` ? Step : never
