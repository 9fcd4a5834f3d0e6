/** This label names the one signature that a branch call has. */
export const LABEL = 'counterstep'
/** Keeps a signature of this kind apart from what the same key may sign elsewhere. */
export const TAG = 'counterstep'
export const CONTENT_TYPE = 'content-type'

const BEFORE_CONTENT_TYPE = ['@method', '@target-uri', 'content-digest']
const AFTER_CONTENT_TYPE = ['counterstep-attempt', 'counterstep-epoch', 'counterstep-accepted-at']
/** A call of an orchestrator before 0.2 lacks these headers. Where one of them is there, it must be signed. */
export const IDENTITY_NAMES = [
  'counterstep-gid',
  'counterstep-branch-id',
  'counterstep-op',
  'counterstep-kind',
] as const
/** Only a plan call has it. Where it is there, it must be signed. */
export const BUDGET = 'counterstep-budget-ms'
/** The call of an action that nothing will undo has it, and that of an undo with surely something to undo. Where it is there, it must be signed. */
export const UNDO = 'counterstep-undo'

/** Lists the components that every signature of a call must cover. */
export function listRequiredNames(hasContentType: boolean): readonly string[] {
  return [...BEFORE_CONTENT_TYPE, ...(hasContentType ? [CONTENT_TYPE] : []), ...AFTER_CONTENT_TYPE]
}

/** Lists the components that our own signature covers, in its order. */
export function listSignedNames(hasContentType: boolean): readonly string[] {
  return [...listRequiredNames(hasContentType), ...IDENTITY_NAMES]
}
