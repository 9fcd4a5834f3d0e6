/** Of the one signature that a branch call has. */
export const LABEL = 'counterstep'
/** Keeps a signature of this kind apart from what the same key may sign elsewhere. */
export const TAG = 'counterstep'
export const CONTENT_TYPE = 'content-type'

const BEFORE_CONTENT_TYPE = ['@method', '@target-uri', 'content-digest']
const AFTER_CONTENT_TYPE = ['counterstep-attempt', 'counterstep-epoch', 'counterstep-accepted-at']

/** What must be signed of a call. */
export function coveredNames(hasContentType: boolean): readonly string[] {
  return [...BEFORE_CONTENT_TYPE, ...(hasContentType ? [CONTENT_TYPE] : []), ...AFTER_CONTENT_TYPE]
}
